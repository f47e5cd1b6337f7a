import type { ScanFilter, StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { escapeAddress } from '../text/invisible.ts';
import { formatCount } from '../ui/format.ts';
import { isConfirmed, UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe, wrapLine } from '../lib/terminal/terminal-text.ts';
import { findAccount, type Account } from './accounts.ts';
import type { Connection } from './connect.ts';
import { openErasures } from './erasures.ts';
import type { Command } from './options.ts';
import { countInquiries, formatTime, showProgress, toJsonLine } from './output.ts';
import { deleteReceivedMails } from './received-mails.ts';

interface Owner {
  cognito_sub: string;
  email: string;
  inquiries: number;
  unanswered: number;
  /** Both in the form of `created_at`. */
  oldest: string;
  newest: string;
}

const MOST_PASSES = 5;

const UNCHANGED = 'Nothing was deleted.';
const DRY_RUN = 'This was a dry run; nothing was deleted. --yes deletes.';
const KEPT: Account = { status: 'kept', description: 'The account of the user is kept.' };

type Task = ReturnType<typeof createTask>;

export async function run(command: Command): Promise<void> {
  const { sub, email } = command.filter;
  const { replay } = command.values;
  if ([sub, email, replay].filter((each) => each !== undefined).length !== 1) {
    throw new UsageError('erase takes one of --sub UUID, --email E and --replay (see --help)');
  }
  const task = createTask(command);
  if (replay === true) return replayErasures(task);
  const keepsAccount = command.values['keep-account'] === true;
  const user = sub ?? (await findUser(`${email}`, task));
  return user === undefined ? undefined : eraseUser(user, keepsAccount, task);
}

type Consent = 'given' | 'asked' | 'absent';

function consentOf({ io, values }: Command): Consent {
  if (values.yes === true) return 'given';
  return io.stdin.isTTY === true && io.stderr.isTTY === true ? 'asked' : 'absent';
}

function createTask(command: Command) {
  const { io, isInteractive } = command;
  const { stdin, stdout, stderr } = io;
  const connection = command.connect();
  const questions = {
    account: ['account', 'delete the account, too, or anything else to keep it'],
    inquiries: [
      connection.stage,
      `delete the inquiries from the table ${escapeUnsafe(connection.table)}`,
    ],
  } as const;
  return {
    io,
    connection,
    consent: consentOf(command),
    async ask(question: keyof typeof questions): Promise<boolean> {
      const [expected, purpose] = questions[question];
      const streams = { stdin, stdout: stderr };
      return isConfirmed(`Type ${expected} to ${purpose}: `, expected, undefined, streams);
    },
    say(text: string): void {
      for (const line of text.split('\n')) {
        // Commands stay whole, to be copied.
        stderr.write(`${line.includes('npm run') ? line : wrapLine(line, stderr.columns)}\n`);
      }
    },
    print: (text: string, data: object): boolean =>
      stdout.write(isInteractive ? text : toJsonLine(data)),
  };
}

async function findUser(email: string, task: Task): Promise<string | undefined> {
  const owners = await findOwners(task, { email });
  const [sub, ...others] = new Set(owners.map(({ cognito_sub }) => cognito_sub));
  if (others.length > 0) {
    printOwners(owners, task);
    throw new UsageError(
      `${escapeAddress(email)} was used by ${others.length + 1} users; nothing was deleted. Choose one with --sub.`,
    );
  }
  if (sub === undefined) {
    task.say(
      `There are no inquiries of ${escapeAddress(email)}; nothing was deleted. Addresses are compared byte for byte: one in another case is another one.`,
    );
  }
  return sub;
}

async function eraseUser(sub: string, keepsAccount: boolean, task: Task): Promise<void> {
  const { connection, consent, say } = task;
  const owners = await findOwners(task, { sub });
  printOwners(owners, task);
  const found = keepsAccount ? KEPT : await findAccount(connection, sub);
  say(found.description);
  const isUnknown = owners.length === 0 && found.remove === undefined && consent !== 'given';
  if (owners.length === 0) {
    const hint = isUnknown ? ' --yes records the erasure nevertheless.' : '';
    say(`There are no inquiries of ${sub}.${hint}`);
  } else if (consent !== 'given') {
    // Who asks for an erasure has a right to a copy (GDPR, article 15).
    const command = ['npm run inbox --', connection.options, `export --sub ${sub} --out FILE`];
    say(`To give the user a copy first:\n  ${command.filter(Boolean).join(' ')}`);
  }
  if (isUnknown) return;
  if (consent === 'absent') return say(DRY_RUN);
  const isRefused = async (question: Parameters<Task['ask']>[0]): Promise<boolean> =>
    consent === 'asked' && !(await task.ask(question));
  const account = found.remove && (await isRefused('account')) ? KEPT : found;
  if (owners.length > 0 ? await isRefused('inquiries') : account !== found) {
    throw new Error(UNCHANGED);
  }

  const result = await erase(sub, owners, task, account.remove);
  const addresses = owners.map(({ email }) => email);
  const mails = await deleteReceivedMails(connection, addresses);
  if (mails !== undefined) say(`Deleted ${formatCount(mails, 'mail')} that nobody had handled.`);
  const status = account.remove === undefined ? account.status : 'deleted';
  const line = `Deleted ${countInquiries(result.deleted)} of ${sub}.\n`;
  task.print(line, { cognito_sub: sub, ...result, account: status });
  if (found.remove !== undefined) say(`The account is ${status}.`);
  say(describeRemains(connection));
}

/**
 * Deletes until nothing more arrives.
 *
 * @param removeAccount - Called after the record and before the inquiries, by which an interrupted erasure is found
 * again.
 */
async function erase(
  sub: string,
  owners: Owner[],
  task: Task,
  removeAccount: Account['remove'],
): Promise<{ deleted: number; erased_at: string }> {
  const erasures = openErasures(task.connection);
  let left = owners;
  let deleted = 0;
  for (let pass = 1; pass <= MOST_PASSES; pass++) {
    // Not before the newest, if this clock is behind.
    const times = [new Date().toISOString(), ...left.map(({ newest }) => newest)];
    const erased_at = times.toSorted().at(-1) ?? '';
    // Recorded first: what an interrupted erasure has deleted must not come back either.
    await erasures.record(sub, erased_at);
    if (pass === 1) await removeAccount?.();
    const count = await deleteOwners(left, () => erased_at, task);
    deleted += count;
    if (count === 0) return { deleted, erased_at };
    const found = await findOwners(task, { sub });
    // A query is not isolated from a transaction: a key may become visible after its inquiry.
    const emails = new Set(found.map(({ email }) => email));
    left = [...left.filter(({ email }) => !emails.has(email)), ...found];
  }
  throw new Error(`${countInquiries(deleted)} deleted, but new ones keep arriving; run it again.`);
}

async function replayErasures(task: Task): Promise<void> {
  const { connection, consent, say } = task;
  const table = escapeUnsafe(connection.table);
  const { count, lost, find } = await openErasures(connection).read();
  say(`${formatCount(count, 'erasure is', 'erasures are')} recorded for ${connection.stage}.`);
  const untilOf = ({ cognito_sub }: Pick<Owner, 'cognito_sub'>): string => find(cognito_sub) ?? '';
  const owners = await findOwners(task, {}, (row) => row.created_at <= untilOf(row));
  const found = owners.reduce((sum, { inquiries }) => sum + inquiries, 0);
  const users = new Set(owners.map(({ cognito_sub }) => cognito_sub)).size;
  say(
    `The table ${table} has ${countInquiries(found)} of ${formatCount(users, 'user')} from before the erasure.`,
  );
  if (found > 0 && consent === 'absent') {
    say(DRY_RUN);
  } else if (found > 0 || consent === 'given') {
    if (consent === 'asked' && !(await task.ask('inquiries'))) throw new Error(UNCHANGED);
    const deleted = await deleteOwners(owners, untilOf, task);
    const result = { table: connection.table, erasures: count, users, deleted };
    task.print(`Deleted ${countInquiries(deleted)} from ${table}.\n`, result);
  }
  if (lost > 0) {
    throw new Error(
      `${formatCount(lost, 'erasure')} cannot be replayed, because the key of the record was lost or replaced; see docs/runbook.md, "Restore the table".`,
    );
  }
}

async function findOwners(
  { connection: { inquiries }, io }: Task,
  filter: ScanFilter,
  isWanted: (row: StoredInquiry) => boolean = () => true,
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  const pages = inquiries.scan({ ...filter, withExpired: true });
  for await (const page of showProgress(io, pages)) {
    for (const { cognito_sub, email, created_at, reply_at } of page.filter(isWanted)) {
      const key = `${cognito_sub} ${email}`;
      const times = { oldest: created_at, newest: created_at };
      const none = { cognito_sub, email, inquiries: 0, unanswered: 0, ...times };
      const owner: Owner = owners.get(key) ?? none;
      owners.set(key, owner);
      owner.inquiries += 1;
      owner.unanswered += Number(reply_at === undefined);
      if (created_at < owner.oldest) owner.oldest = created_at;
      if (created_at > owner.newest) owner.newest = created_at;
    }
  }
  return [...owners.values()].toSorted((a, b) => (a.newest < b.newest ? 1 : -1));
}

/** @param untilOf - Inclusive, in the form of `created_at`. */
async function deleteOwners(
  owners: Owner[],
  untilOf: (owner: Owner) => string,
  { connection, io }: Task,
): Promise<number> {
  const pages = async function* () {
    for (const owner of owners) yield* connection.inquiries.remove(owner, untilOf(owner));
  };
  let deleted = 0;
  for await (const { length } of showProgress(io, pages(), 'deleted ')) deleted += length;
  return deleted;
}

function printOwners(owners: Owner[], { print }: Task): void {
  for (const owner of owners) {
    const { cognito_sub, email, inquiries, unanswered, oldest, newest } = owner;
    // Not a table: an address must be seen to its end.
    const text = `${escapeAddress(email)}
  sub     ${cognito_sub}
  has     ${countInquiries(inquiries)}, ${unanswered} unanswered
  oldest  ${formatTime(oldest)}
  newest  ${formatTime(newest)}\n`;
    print(text, owner);
  }
}

/** Where the erased texts may still be. */
function describeRemains({ stage, options, erasures }: Connection): string {
  const onStage = `  point-in-time recovery, for pitr_days. Clean a restored table before it is used:
    npm run inbox -- ${options} --table RESTORED --erasures ${escapeUnsafe(erasures.table)} erase --replay
  the stream of the table, for 24 hours; the counts of mails, which hold a hash of the user and ids of inquiries, and idempotency keys under an email of which no inquiry was left, for days
  backups made by hand`;
  return `What remains elsewhere:
${stage === 'local' ? '' : `${onStage}\n`}  exports, until someone deletes them
  mails already sent, in the mailboxes of the team and of the user
The logs hold no personal data.`;
}
