import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { parseOptions, type Io } from '../lib/command-line.ts';
import { reindex } from '../lib/reindex.ts';
import { formatCount } from '../web/ui/format.ts';
import type { Connect } from './connect.ts';
import { countInquiries, isInteractive, showProgress, toJsonLine } from './output.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] reindex [options]

Puts into the index what a version before the index has stored or answered, and what no other verb finds therefore: see
docs/operations.md, "Migrate a table". It reads the whole table and changes nothing but the place in the index. It can be
interrupted and repeated while inquiries are stored and answered, and needs the credentials of a deployment.

  --json  one JSON object on a terminal, too
`;

export async function reindexInquiries(connect: Connect, args: string[], io: Io): Promise<void> {
  const { json } = parseOptions(USAGE, { json: { type: 'boolean' } }, args);
  const { client, table } = connect();
  // DynamoDB counts the rows every six hours.
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const total = formatCount(Table?.ItemCount ?? 0, 'row', 'rows');
  const toText = (read: number): string => `${read.toLocaleString('en')} of about ${total} read`;
  let [read, changed] = [0, 0];
  for await (const page of showProgress(io, reindex(client, table), toText)) {
    read += page.length;
    changed += page.changed;
  }
  const line = `${toText(read)}, ${countInquiries(changed)} changed.\n`;
  io.stdout.write(isInteractive(io, json) ? line : toJsonLine({ table, read, changed }));
}
