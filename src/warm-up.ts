/** Events that the function handles during initialisation, and DynamoDB's response to all. docs/adr/0060 */
import { Readable } from 'node:stream';
import { createInquiryRequestSchema, inquiryFields } from './contract.ts';
import { createGatewayEvent } from './gateway-event.ts';
import type { Identity } from './identity.ts';

/** Cannot exist: an email contains an @. */
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
/** A POST with a key runs nearly all code of one without. */
export const warmUpEvents = [post, keyedPost, get, keyedPost, get];

/** What DynamoDB would answer to a write, which needs the consumed capacity, and to a Query, which needs items. */
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
