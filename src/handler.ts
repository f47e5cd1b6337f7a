/** The request function's entry point. Its environment: src/config.ts and the SDK's `AWS_*`. */
import type { APIGatewayProxyHandlerV2WithJWTAuthorizer } from 'aws-lambda';
import { createApp } from './app.ts';
import { parseConfig } from './config.ts';
import { createDynamoDbClient } from './entities/client.ts';
import { createInquiryStore } from './entities/inquiry-store.ts';
import { createInquiries } from './inquiries.ts';
import { logRequest } from './log.ts';
import { withGarbageCollection } from './memory.ts';
import { WARM_UP_OWNER, warmUpEvents, warmUpRequestHandler } from './warm-up.ts';

const { corsOrigin, inquiriesPerHour, tableName, ...options } = parseConfig(process.env);
const store = createInquiryStore(createDynamoDbClient(), tableName, options);

export const handler = withGarbageCollection(
  createApp({
    inquiries: createInquiries(store, { inquiriesPerHour }),
    corsOrigin,
    log: logRequest,
  }),
) satisfies APIGatewayProxyHandlerV2WithJWTAuthorizer;

// src/memory.ts needs `gc`. A stage's smoke test looks for this line.
if (globalThis.gc === undefined) {
  process.stdout.write('{"level":"WARN","message":"Node runs without --expose-gc"}\n');
}

// Loads credentials and connects by TLS. The first request reports a failure. docs/adr/0060
const firstPage = store
  .list(WARM_UP_OWNER, {}, { signal: AbortSignal.timeout(1_000), attempts: 0 })
  .next()
  .catch(() => undefined);

// Runs the code once, without a network.
const warmUpStore = createInquiryStore(
  createDynamoDbClient(warmUpRequestHandler),
  tableName,
  options,
);
const warmUp = createApp({
  inquiries: createInquiries(warmUpStore, { inquiriesPerHour }),
  corsOrigin,
});
for (const event of warmUpEvents) await warmUp(event);
await firstPage;
