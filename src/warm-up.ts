/** Events for the initialisation, and a response to all their requests. docs/adr/0060 */
import { Readable } from 'node:stream';
import { createInquiryRequestSchema, inquiryFields } from './contract.ts';
import { createGatewayEvent } from './gateway-event.ts';
import type { Identity } from './identity.ts';

/** No such user exists, because an email contains an @. */
export const WARM_UP_OWNER: Identity = { sub: '00000000-0000-0000-0000-000000000000', email: '-' };

const claims = WARM_UP_OWNER;
const body = JSON.stringify(
  Object.fromEntries(createInquiryRequestSchema.required.map((field) => [field, ''])),
);
const post = createGatewayEvent({ method: 'POST', claims, body });
const keyedPost = createGatewayEvent({
  method: 'POST',
  claims,
  body,
  headers: { 'idempotency-key': '-' },
});
const get = createGatewayEvent({ method: 'GET', claims });
/** A POST with a key also runs nearly all code of one without. */
export const warmUpEvents = [post, keyedPost, get, keyedPost, get];

/** A write needs the consumed capacity, a query needs items. */
const RESPONSE = JSON.stringify({
  ConsumedCapacity: { CapacityUnits: 1 },
  Items: [
    {
      ...Object.fromEntries(inquiryFields.map((field) => [field, { S: '' }])),
      cognito_sub: { S: WARM_UP_OWNER.sub },
      email: { S: WARM_UP_OWNER.email },
    },
  ],
});

export const warmUpRequestHandler = {
  handle: async () => ({
    response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(RESPONSE)]) },
  }),
};
