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
import type { DocumentClient } from './entities/client.ts';
import { createInquiryStore } from './entities/inquiry-store.ts';
import { createInquiryEntity } from './entities/inquiry.ts';
import { createInquiries } from './inquiries.ts';
import type { InquiryStore } from './inquiries.ts';
import { logRequest } from './log.ts';
import { NOBODY, rehearsedAnswer, rehearsedEvents } from './rehearsal.ts';

const config = parseConfig(process.env);
const wireStore = (client: DocumentClient): InquiryStore =>
  createInquiryStore(createInquiryEntity({ client, table: config.tableName }));
const store = wireStore(createDynamoDbClient());

/** Answers payload 2.0 events of the two operations on `/inquiries`; it never rejects. */
export const handler = createApp({
  inquiries: createInquiries(store),
  corsOrigin: config.corsOrigin,
  // Metrics go past the console, whose JSON format would wrap the line.
  log: (request) => logRequest(request, (line) => void process.stdout.write(line)),
}) satisfies APIGatewayProxyHandlerV2WithJWTAuthorizer;

// Pays here what the first requests would pay at 7 % of a core; initialisation has a whole one. First the code: both
// operations on answers that are made up. docs/adr/0011
const rehearsal = createApp({
  inquiries: createInquiries(wireStore(createDynamoDbClient(rehearsedAnswer))),
  corsOrigin: config.corsOrigin,
});
for (const event of rehearsedEvents) await rehearsal(event);

// Then the connection, with a query that finds nothing. Bounded in time, and a failure here says nothing yet: the
// first request will meet it and answer.
const firstPage = store.list(NOBODY, {}, AbortSignal.timeout(1_000))[Symbol.asyncIterator]();
await firstPage.next().catch(() => undefined);
