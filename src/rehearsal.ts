/**
 * One POST and one GET, and an answer of DynamoDB to both: what the function rehearses while it initialises, so that
 * the first requests find its code compiled. Nothing of it leaves the process. docs/adr/0011
 */
import type { GatewayEvent } from './http.ts';
import type { Identity } from './identity.ts';

/** An owner that cannot exist: no email is without an @. */
export const NOBODY: Identity = { sub: '00000000-0000-0000-0000-000000000000', email: '-' };

const requestContext = (method: string) => ({ http: { method }, authorizer: { jwt: { claims: NOBODY } } });

export const rehearsedEvents: readonly GatewayEvent[] = [
  { requestContext: requestContext('POST'), body: '{"subject":"","body":""}' },
  { requestContext: requestContext('GET') },
];

const string = (S: string) => ({ S });

/** As JSON. DynamoDB says what a write has cost and which items a query has found; here it says both. */
export const rehearsedAnswer = JSON.stringify({
  ConsumedCapacity: { CapacityUnits: 1 },
  Items: [
    {
      id: string('00000000-0000-7000-8000-000000000000'),
      cognito_sub: string(NOBODY.sub),
      email: string(NOBODY.email),
      subject: string(''),
      body: string(''),
      created_at: string('1970-01-01T00:00:00.000Z'),
    },
  ],
});
