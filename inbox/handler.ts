/** Lambda entry of the inbox's pages. Environment: inbox/config.ts and the SDK's `AWS_*`. docs/adr/0082 */
import { handle } from 'hono/aws-lambda';
import { createDeliveries } from '../src/entities/deliveries.ts';
import { createStoredInquiries } from '../src/entities/stored-inquiries.ts';
import { openTable } from '../src/entities/table.ts';
import { createInbox } from './app.ts';
import { parseInboxConfig } from './config.ts';
import { readSavedReplies } from './saved-replies.ts';
import { createSignIn } from './sign-in.ts';

const config = parseInboxConfig(process.env);
const table = openTable(config.tableName);
const connection = {
  inquiries: createStoredInquiries(table),
  deliveries: createDeliveries(table),
  mail: async () => config.mail,
};

export const handler = handle(
  createInbox({
    ...config,
    access: createSignIn(config),
    connect: () => connection,
    // scripts/build.ts puts them into the package.
    savedReplies: await readSavedReplies(),
    // oxlint-disable-next-line no-console -- Lambda's log
    log: (failure) => console.error(failure),
  }),
);
