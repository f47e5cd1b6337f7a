/**
 * Lambda entry and composition root: everything is wired here, once per process.
 *
 * Environment: `TABLE_NAME` and `CORS_ORIGIN`, both required, `RETENTION_DAYS`, `INQUIRIES_PER_HOUR`, and the SDK's own
 * `AWS_*` variables. A variable that is missing or malformed fails initialisation with a message that names it.
 */
import type { APIGatewayProxyHandlerV2WithJWTAuthorizer } from 'aws-lambda';
import { createApp } from './app.ts';
import { parseConfig } from './config.ts';
import { createDynamoDbClient } from './entities/client.ts';
import { createInquiryStore } from './entities/inquiry-store.ts';
import { createInquiries } from './inquiries.ts';
import { logRequest } from './log.ts';
import { withGarbageCollection } from './memory.ts';
import { WARM_UP_OWNER, warmUpEvents, warmUpRequestHandler } from './warm-up.ts';

const { corsOrigin, inquiriesPerHour, isLocal, retentionDays, tableName } = parseConfig(
  process.env,
);
const store = createInquiryStore(createDynamoDbClient(), tableName, { retentionDays });

/** Handles payload 2.0 events of the two operations on `/inquiries`; it never rejects. */
export const handler = withGarbageCollection(
  createApp({
    inquiries: createInquiries(store, { inquiriesPerHour }),
    corsOrigin,
    log: (request) => logRequest(request, isLocal),
  }),
) satisfies APIGatewayProxyHandlerV2WithJWTAuthorizer;

// What src/memory.ts needs; the smoke test of a stage looks for this line.
if (globalThis.gc === undefined) {
  process.stdout.write('{"level":"WARN","message":"Node runs without --expose-gc"}\n');
}

// Prime during initialisation: Lambda gives a full vCPU there, about 7 % of one afterwards. docs/adr/0060
// Credentials, TLS and the connection, with a query that finds nothing. It is bounded in time; a failure is ignored,
// since the first request will meet and report it.
const firstPage = store
  .list(WARM_UP_OWNER, {}, { signal: AbortSignal.timeout(1_000), attempts: 0 })
  .next()
  .catch(() => undefined);

// While that waits for the network, the code: every kind of request, with a request handler that answers without one.
const warmUpStore = createInquiryStore(createDynamoDbClient(warmUpRequestHandler), tableName, {
  retentionDays,
});
const warmUp = createApp({
  inquiries: createInquiries(warmUpStore, { inquiriesPerHour }),
  corsOrigin,
});
for (const event of warmUpEvents) await warmUp(event);
await firstPage;
