import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { DATA_FOLDER } from '../lib/paths.ts';
import type { StackState } from '../lib/running-stack.ts';
import { installLineOf } from '../lib/terminal/programs.ts';
import { engineNames } from './database/engines.ts';
import type { Settings } from './settings.ts';
import type { Stack } from './stack.ts';

/** @param seeded - How many inquiries were stored; undefined without --seed. */
export function formatAnnouncement(
  { state, docsUrl, demoUrl, corsOrigins, engine }: Stack,
  { folder, liveForm, inspect, engine: chosen }: Settings,
  seeded: number | undefined,
): string {
  const { gateway, form, inbox, mailbox, smtp, issuer, usersIssuer, table }: StackState = state;
  // Other commands find the default folder.
  const data = folder === DATA_FOLDER ? '' : ` --data '${folder}'`;
  const lines: string[] = [];
  const add = (label: string, value: string, note = ''): void =>
    void lines.push(`  ${label.padEnd(10)} ${styleText('cyan', value)}   ${note}`.trimEnd());

  if (engine.name === 'dynalite') {
    lines.push('dynalite has no transactions and no streams: Idempotency-Key and');
    lines.push('INQUIRIES_PER_HOUR are ignored, and no mail is sent.');
    if (chosen === undefined) {
      lines.push('It runs because there is no JDK 17 or newer. For all of the service:');
      lines.push(`  ${installLineOf('java', process.env)}`);
    }
    lines.push('');
  }
  add('Form', form, liveForm ? '(from web/; changes apply in the open page)' : '');
  if (inbox !== undefined) {
    add('Inbox', inbox, `(the team; or npm run inbox${data && ` --${data}`})`);
  }
  add('Mailbox', mailbox ?? 'off (see above)', mailbox && '(all mails; none is sent)');
  if (smtp !== undefined) add('Answers', smtp, '(a mail program may reply there)');
  // The demo signs in through the local issuer.
  if (usersIssuer === undefined) add('Demo', demoUrl, '(another site with <inquiry-form>)');
  add('API', `${gateway}/inquiries`);
  add('Docs', docsUrl, '(curl commands, guides, OpenAPI)');
  add('Sign-in', usersIssuer ?? issuer, usersIssuer ? '' : '(client id and redirect addresses)');
  const [first, ...others] = corsOrigins;
  add('Browsers', first, '(pages that may call the API)');
  for (const origin of others) add('', origin);
  if (inspect !== undefined) {
    const note = '(attach VS Code or chrome://inspect)';
    add('Inspector', `127.0.0.1:${inspect}`, note);
  }
  add('DynamoDB', engine.url, `(${engine.name}, table ${table})`);
  add('Data', relative('', folder) || '.');
  for (const name of engineNames) {
    if (name === engine.name || !existsSync(join(folder, name))) continue;
    add('', `${name} has data of its own`, `(shown by --engine ${name})`);
  }
  if (seeded !== undefined) {
    const note = seeded > 0 ? '(without mails)' : '(there are others; --reset deletes them)';
    add('Seed', `${seeded} inquiries`, note);
  }
  const token = usersIssuer ? 'ID-TOKEN' : `$(npm run --silent token${data && ` --${data}`})`;
  const sender = usersIssuer ? 'with an ID token of yours' : 'as ana@example.com';
  return `
Inquiry service, running on this machine until Ctrl-C.

${lines.join('\n')}

Send an inquiry ${sender}, in this folder:

  curl -X POST ${gateway}/inquiries \\
    -H "Authorization: Bearer ${token}" \\
    -H 'Content-Type: application/json' \\
    -d '{"subject":"Hello","body":"Is anyone there?"}'
`;
}
