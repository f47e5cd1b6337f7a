/** What `npm start` prints when the stack runs: its addresses, and a command that sends an inquiry. */
import { relative } from 'node:path';
import { styleText } from 'node:util';
import { DATA_FOLDER } from '../lib/paths.ts';
import { dynamoDbLocalUnavailableReason, type EngineName } from './database/engines.ts';
import type { Settings } from './settings.ts';
import type { Stack } from './stack.ts';

/** What start.ts knows beside the stack and its settings. */
interface Outcome {
  /** Whether the form was built first. */
  readonly isBuilt: boolean;
  /** How many inquiries were stored for --seed; undefined without it. */
  readonly seeded: number | undefined;
  /** The engine that does not run, and has data of its own in the data folder. */
  readonly otherEngine: EngineName | undefined;
}

/** A label, what it names, and a note. */
type Row = readonly [label: string, value: string, note?: string];

const formatRow = ([label, value, note = '']: Row): string =>
  `  ${styleText('dim', label.padEnd(10))} ${styleText('cyan', value)}   ${note}`.trimEnd();

export function formatAnnouncement(stack: Stack, settings: Settings, outcome: Outcome): string {
  const { folder } = settings;
  // Other commands find a stack on .data themselves.
  const data = folder === DATA_FOLDER ? '' : ` --data '${folder}'`;
  const token = `npm run --silent token${data && ` --${data}`}`;
  return [
    `\n${styleText('bold', 'Inquiry service')}, running on this machine until Ctrl-C.\n`,
    ...listAddresses(stack, settings, outcome, data).map(formatRow),
    ...listDatabase(stack, settings, outcome).map(formatRow),
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
  { isBuilt }: Outcome,
  data: string,
): Row[] {
  const built = isBuilt ? '(web/dist was missing or old and has been built)' : '';
  const rows: Row[] = [
    ['Form', formUrl, liveForm ? '(from web/; changes apply in the open page)' : built],
    ['Inbox', `npm run inbox -- --web${data}`, '(in another terminal: answer them)'],
    mailboxUrl === undefined
      ? ['Mailbox', 'off, because dynalite has no streams to send mail from']
      : ['Mailbox', mailboxUrl, '(mails to team and owners; sent to nobody, kept in memory)'],
    ['Demo', demoUrl, '(a page of another site with <inquiry-form> in it)'],
    ['API', `${url}/inquiries`],
    ['Docs', docsUrl, '(curl commands, guides, the contract as OpenAPI)'],
    ['Sign-in', issuer.url],
    [
      'Client id',
      issuer.clientId,
      '(no secret; sign-in returns to / or /callback of the origins below)',
    ],
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
  { otherEngine, seeded }: Outcome,
): Row[] {
  const isDynalite = engine.name === 'dynalite';
  const name = isDynalite ? 'dynalite' : 'DynamoDB Local';
  const place = `${name}, table ${tableName}, kept in ${relative('', folder) || '.'}`;
  const rows: Row[] = [['DynamoDB', engine.url, place]];
  if (isDynalite) {
    const reason = chosen === undefined ? dynamoDbLocalUnavailableReason() : undefined;
    if (reason !== undefined) rows.push(['', `dynalite, because ${reason}`]);
    const ignored = 'Idempotency-Key and INQUIRIES_PER_HOUR are ignored';
    rows.push(['', `${ignored}, because dynalite has no transactions`]);
  }
  if (otherEngine !== undefined) {
    const note = `(shown by --engine ${otherEngine})`;
    rows.push(['', `${otherEngine} has data of its own`, note]);
  }
  if (seeded === 0) {
    rows.push(['Seed', 'none', '(the table has inquiries; --reset deletes them)']);
  } else if (seeded !== undefined) {
    rows.push(['Seed', `${seeded} inquiries`, '(no mails were sent about them)']);
  }
  return rows;
}
