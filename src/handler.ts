/** Lambda entry: everything is wired here, once per process. Environment: src/config.ts, and the SDK's own `AWS_*`. */
import type { APIGatewayProxyHandlerV2WithJWTAuthorizer } from 'aws-lambda';
import { createApp } from './app.ts';
import { parseConfig } from './config.ts';
import { createDynamoDbClient } from './entities/client.ts';
import { createInquiryStore } from './entities/inquiry-store.ts';
import { createInquiries } from './inquiries.ts';
import { logRequest } from './log.ts';
import { withGarbageCollection } from './memory.ts';
import { WARM_UP_OWNER, warmUpEvents, warmUpRequestHandler } from './warm-up.ts';

const { corsOrigin, inquiriesPerHour, retentionDays, tableName } = parseConfig(process.env);
const store = createInquiryStore(createDynamoDbClient(), tableName, { retentionDays });

export const handler = withGarbageCollection(
  createApp({
    inquiries: createInquiries(store, { inquiriesPerHour }),
    corsOrigin,
    log: logRequest,
  }),
) satisfies APIGatewayProxyHandlerV2WithJWTAuthorizer;

// src/memory.ts needs it; the smoke test of a stage looks for this line.
if (globalThis.gc === undefined) {
  process.stdout.write('{"level":"WARN","message":"Node runs without --expose-gc"}\n');
}

// Lambda gives a full vCPU during initialisation, about 7 % of one afterwards. docs/adr/0060
// This primes credentials, TLS and the connection. The first request reports what fails here.
const firstPage = store
  .list(WARM_UP_OWNER, {}, { signal: AbortSignal.timeout(1_000), attempts: 0 })
  .next()
  .catch(() => undefined);

// And the code, with a request handler that answers without a network.
const warmUpStore = createInquiryStore(createDynamoDbClient(warmUpRequestHandler), tableName, {
  retentionDays,
});
const warmUp = createApp({
  inquiries: createInquiries(warmUpStore, { inquiriesPerHour }),
  corsOrigin,
});
for (const event of warmUpEvents) await warmUp(event);
await firstPage;
