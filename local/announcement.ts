/** What `npm start` prints when the stack runs: its addresses, and a command that sends an inquiry. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { DATA_FOLDER } from '../lib/paths.ts';
import { engineNames } from './database/engines.ts';
import type { Settings } from './settings.ts';
import type { Stack } from './stack.ts';

/** A label, what it names, and a note. */
type Row = readonly [label: string, value: string, note?: string];

/** @param seeded - How many inquiries were stored for --seed; undefined without it. */
export function formatAnnouncement(
  stack: Stack,
  settings: Settings,
  seeded: number | undefined,
): string {
  const { folder } = settings;
  // Other commands find a stack on .data themselves.
  const data = folder === DATA_FOLDER ? '' : ` --data '${folder}'`;
  const token = `npm run --silent token${data && ` --${data}`}`;
  const rows = [...listAddresses(stack, settings, data), ...listDatabase(stack, settings, seeded)];
  return [
    `\nInquiry service, running on this machine until Ctrl-C.\n`,
    ...rows.map(([label, value, note = '']) =>
      `  ${label.padEnd(10)} ${styleText('cyan', value)}   ${note}`.trimEnd(),
    ),
    '\nSend an inquiry as ana@example.com, in this folder:\n',
    `  curl -X POST ${stack.url}/inquiries \\`,
    `    -H "Authorization: Bearer $(${token})" \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"subject":"Hello","body":"Is anyone there?"}'\n`,
  ].join('\n');
}

function listAddresses(
  { url, formUrl, corsOrigins, docsUrl, demoUrl, mailboxUrl, issuer }: Stack,
  { liveForm, inspect }: Settings,
  data: string,
): Row[] {
  const rows: Row[] = [
    ['Form', formUrl, liveForm ? '(from web/; changes apply in the open page)' : ''],
    ['Inbox', `npm run inbox -- --web${data}`, '(in another terminal: answer them)'],
    mailboxUrl === undefined
      ? ['Mailbox', 'off, because dynalite has no streams to send mail from']
      : ['Mailbox', mailboxUrl, '(mails to team and owners; sent to nobody, kept in memory)'],
    ['Demo', demoUrl, '(a page of another site with <inquiry-form> in it)'],
    ['API', `${url}/inquiries`],
    ['Docs', docsUrl, '(curl commands, guides, the contract as OpenAPI)'],
    ['Sign-in', issuer.url, '(client id and redirect addresses)'],
    ['Browsers', corsOrigins.join(', '), '(may call the API; --cors-origin adds yours)'],
  ];
  if (inspect !== undefined) {
    const note = '(attach VS Code or chrome://inspect; breakpoints in src/*.ts)';
    rows.push(['Inspector', `127.0.0.1:${inspect}`, note]);
  }
  return rows;
}

function listDatabase(
  { engine, tableName }: Stack,
  { engine: chosen, folder }: Settings,
  seeded: number | undefined,
): Row[] {
  const place = `${engine.name}, table ${tableName}, kept in ${relative('', folder) || '.'}`;
  const rows: Row[] = [['DynamoDB', engine.url, place]];
  if (engine.name === 'dynalite') {
    const ignored = 'Idempotency-Key and INQUIRIES_PER_HOUR are ignored';
    rows.push(['', `${ignored}, because dynalite has no transactions`]);
    if (chosen === undefined) rows.push(['', 'dynalite, because there is no JDK 17 or newer']);
  }
  for (const name of engineNames) {
    if (name === engine.name || !existsSync(join(folder, name))) continue;
    rows.push(['', `${name} has data of its own`, `(shown by --engine ${name})`]);
  }
  if (seeded !== undefined) {
    const note = seeded > 0 ? '(without mails)' : '(there are others; --reset deletes them)';
    rows.push(['Seed', `${seeded} inquiries`, note]);
  }
  return rows;
}
