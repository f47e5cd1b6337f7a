/** What `npm start` prints when the stack runs: its addresses, and a command that sends an inquiry. */
import { relative } from 'node:path';
import { styleText } from 'node:util';
import { DATA_FOLDER } from '../lib/paths.ts';
import { wrapLine } from '../lib/terminal-text.ts';
import { dynamoDbLocalUnavailableReason, type EngineName } from './database/engines.ts';
import type { Settings } from './settings.ts';
import type { Stack } from './stack.ts';

/** What start.ts knows beside the stack and its settings. */
interface Outcome {
  /** Whether the form was built first. */
  readonly isBuilt: boolean;
  /** How many inquiries were stored for --seed; undefined without it. */
  readonly seeded: number | undefined;
  /** The engine that does not run, and has inquiries of its own in the data folder. */
  readonly otherEngine: EngineName | undefined;
  /** Width of the terminal. */
  readonly columns: number;
}

/** A label, what it names, and a note. */
type Row = readonly [label: string, value: string, note?: string];

/** Columns before the values. */
const LABEL = 13;

/** A value, and behind it or, where the terminal is too narrow, below it the note. */
function formatRow(columns: number, [label, value, note = '']: Row): string {
  const name = `  ${styleText('dim', label.padEnd(LABEL - 3))} `;
  const wrap = (text: string): string => wrapLine(' '.repeat(LABEL) + text, columns).slice(LABEL);
  const shown = name + styleText('cyan', wrap(value));
  if (note === '') return shown;
  const fits = LABEL + value.length + 3 + note.length <= columns;
  return fits ? `${shown}   ${note}` : `${shown}\n${' '.repeat(LABEL)}${wrap(note)}`;
}

export function formatAnnouncement(stack: Stack, settings: Settings, outcome: Outcome): string {
  const data = findDataOption(settings);
  const rows = [
    ...listAddresses(stack, settings, outcome, data),
    ...listDatabase(stack, settings, outcome),
    ...listExtras(settings, outcome),
  ];
  return [
    `\n${styleText('bold', 'Inquiry service')}, running on this machine until Ctrl-C.\n`,
    ...rows.map((row) => formatRow(outcome.columns, row)),
    '\nSend an inquiry as ana@example.com, in this folder:\n',
    `  curl -X POST ${stack.url}/inquiries \\`,
    `    -H "Authorization: Bearer $(npm run --silent token${data && ` -- ${data}`})" \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"subject":"Hello","body":"Is anyone there?"}'\n`,
  ].join('\n');
}

/** The option by which other commands find this stack; empty where they find it themselves. */
function findDataOption({ folder }: Settings): string {
  return folder === undefined || folder === DATA_FOLDER ? '' : `--data '${folder}'`;
}

function listAddresses(
  { url, formUrl, corsOrigins, docsUrl, demoUrl, mailboxUrl, issuer }: Stack,
  { liveForm }: Settings,
  { isBuilt }: Outcome,
  data: string,
): Row[] {
  const builtNote = isBuilt ? '(web/dist was missing or old and has been built)' : '';
  return [
    ['Form', formUrl, liveForm ? '(from web/; changes apply in the open page)' : builtNote],
    ['Inbox', `npm run inbox -- --web${data && ` ${data}`}`, '(in another terminal: answer them)'],
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
}

function listDatabase(
  { engine, tableName }: Stack,
  { engine: chosen, folder }: Settings,
  { otherEngine }: Outcome,
): Row[] {
  const place = folder === undefined ? 'kept in memory' : `kept in ${relative('', folder) || '.'}`;
  const name = engine.name === 'dynalite' ? 'dynalite' : 'DynamoDB Local';
  const rows: Row[] = [['DynamoDB', engine.url, `${name}, table ${tableName}, ${place}`]];
  const reason = engine.name === chosen ? undefined : dynamoDbLocalUnavailableReason();
  if (reason !== undefined) rows.push(['', `dynalite, because ${reason}`]);
  if (engine.name === 'dynalite') {
    rows.push([
      '',
      'Idempotency-Key and INQUIRIES_PER_HOUR are ignored, because dynalite has no transactions',
    ]);
  }
  if (otherEngine !== undefined) {
    rows.push([
      '',
      `${otherEngine} has inquiries of its own`,
      `(shown by --engine ${otherEngine})`,
    ]);
  }
  return rows;
}

function listExtras({ inspect }: Settings, { seeded }: Outcome): Row[] {
  const rows: Row[] = [];
  if (seeded === 0) {
    rows.push(['Seed', 'none', '(the table has inquiries; --reset deletes them)']);
  } else if (seeded !== undefined) {
    rows.push(['Seed', `${seeded} inquiries`, '(no mails were sent about them)']);
  }
  if (inspect !== undefined) {
    const note = '(attach VS Code or chrome://inspect; breakpoints in src/*.ts)';
    rows.push(['Inspector', `127.0.0.1:${inspect}`, note]);
  }
  return rows;
}
