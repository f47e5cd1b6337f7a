/**
 * Lambda entry and composition root: everything is wired here, once per process.
 *
 * Environment: `TABLE_NAME` and `CORS_ORIGIN`, both required, and the SDK's own `AWS_*` variables. A missing
 * variable fails initialisation with a message that names it.
 */
import type { APIGatewayProxyHandlerV2WithJWTAuthorizer } from 'aws-lambda';
import { createApp } from './app.ts';
import { parseConfig } from './config.ts';
import { createDynamoDbClient } from './entities/client.ts';
import { createInquiryStore } from './entities/inquiry-store.ts';
import { createInquiryEntity } from './entities/inquiry.ts';
import { createInquiries } from './inquiries.ts';
import { logRequest } from './log.ts';

const config = parseConfig(process.env);
const client = createDynamoDbClient();
const store = createInquiryStore(createInquiryEntity({ client, table: config.tableName }));

/** Answers payload 2.0 events of the two operations on `/inquiries`; it never rejects. */
export const handler = createApp({
  inquiries: createInquiries(store),
  corsOrigin: config.corsOrigin,
  // Metrics go past the console, whose JSON format would wrap the line.
  log: (request) => logRequest(request, (line) => void process.stdout.write(line)),
}) satisfies APIGatewayProxyHandlerV2WithJWTAuthorizer;

// Primes what the first request would pay for at 7 % of a core: connection, TLS, credentials, compiled code.
// Initialisation has a whole core. An owner that cannot exist reads nothing. Bounded in time, and a failure here
// says nothing yet: the first request will meet it and answer. docs/adr/0011
const nobody = { sub: '00000000-0000-0000-0000-000000000000', email: '-' };
const firstPage = store.list(nobody, {}, AbortSignal.timeout(1_000))[Symbol.asyncIterator]();
await firstPage.next().catch(() => undefined);
