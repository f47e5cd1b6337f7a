import { createConversions } from 'electrodb';
import { createDeliveryEntity, DELIVERED_MAILS } from '../src/entities/delivery.ts';
import { createIdempotencyKeyEntity } from '../src/entities/idempotency-key.ts';
import { toFirstId } from '../src/entities/keys.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';
import { formatCount } from '../web/ui/format.ts';
import { isConfirmed, UsageError } from '../lib/command-line.ts';
import { escapeUnsafe, wrapLine } from '../lib/terminal-text.ts';
import { showAddress } from '../src/invisible.ts';
import { findAccount, type Account } from './accounts.ts';
import { readPages, sendAll } from './batches.ts';
import type { Connection } from './connect.ts';
import { openErasures } from './erasures.ts';
import type { Command } from './options.ts';
import { countInquiries, formatTime, showProgress, toJsonLine } from './output.ts';
import type { ScanFilter, StoredInquiry } from './store.ts';

/** What one user has under one email. */
interface Owner {
  readonly cognito_sub: string;
  readonly email: string;
  readonly inquiries: number;
  readonly unanswered: number;
  /** Both in the form of `created_at`. */
  readonly oldest: string;
  readonly newest: string;
}

const NOTHING = 'Nothing was deleted.';

/** An inquiry may arrive while its user is erased. Gives up after five passes over what a user keeps sending. */
const MOST_PASSES = 5;

interface Task {
  readonly command: Command;
  readonly connection: Connection;
  /** Writes lines to standard error. */
  readonly say: (text: string) => void;
}

export async function eraseInquiries(command: Command): Promise<void> {
  const { sub, email } = command.filter;
  const { replay } = command.values;
  if ([sub, email, replay].filter((each) => each !== undefined).length !== 1) {
    throw new UsageError('erase takes one of --sub UUID, --email E and --replay (see --help)');
  }
  const { stderr } = command.io;
  const task: Task = {
    command,
    connection: command.connect(),
    say: (text) => {
      for (const line of text.split('\n')) {
        // Commands stay whole, to be copied.
        stderr.write(`${line.includes('npm run') ? line : wrapLine(line, stderr.columns)}\n`);
      }
    },
  };
  if (replay === true) return replayErasures(task);
  const user = sub ?? (await findUser(email ?? '', task));
  return user === undefined ? undefined : eraseUser(user, task);
}

/** Finds the one user of an email. */
async function findUser(email: string, task: Task): Promise<string | undefined> {
  const owners = await findOwners(task, { email });
  const [sub, ...others] = new Set(owners.map(({ cognito_sub }) => cognito_sub));
  if (others.length > 0) {
    printOwners(owners, task);
    throw new UsageError(
      `${showAddress(email)} was used by ${others.length + 1} users; nothing was deleted. Choose one with --sub.`,
    );
  }
  if (sub === undefined) {
    task.say(`There are no inquiries of ${showAddress(email)}; nothing was deleted.`);
  }
  return sub;
}

async function eraseUser(sub: string, task: Task): Promise<void> {
  const { command, connection, say } = task;
  const { yes = false, 'keep-account': isKept = false } = command.values;
  const owners = await findOwners(task, { sub });
  printOwners(owners, task);
  const account = isKept ? ({ status: 'kept' } as const) : await findAccount(connection, sub);
  say(describeAccount(account, sub, connection.stage));
  const hasAccount = account.status === 'found';
  const hasInquiries = owners.length > 0;
  if (!hasInquiries) {
    const hint = yes || hasAccount ? '' : ' --yes records the erasure nevertheless.';
    say(`There are no inquiries of ${sub}.${hint}`);
    if (!yes && !hasAccount) return;
  }
  if (isDryRun(task)) return;
  const question = 'Type account to delete the account, too, or anything else to keep it: ';
  const deletesAccount = hasAccount && (await isAgreed(question, 'account', task));
  if (hasInquiries) await confirmStage(task);
  else if (hasAccount && !deletesAccount) throw new Error(NOTHING);

  const remove = deletesAccount ? account.remove : async () => {};
  const result = await erase(sub, owners, task, remove);
  const outcome = !hasAccount ? account.status : deletesAccount ? 'deleted' : 'kept';
  printResult({ cognito_sub: sub, ...result, account: outcome }, task, `of ${sub}`);
  if (hasAccount) say(`The account is ${outcome}.`);
  say(describeRemains(connection));
}

/**
 * Records the erasure of a user and deletes what the owners have, until nothing more arrives.
 *
 * @param removeAccount - Called once, after the record and before the inquiries, by which an interrupted erasure is found
 * again.
 */
async function erase(
  sub: string,
  owners: readonly Owner[],
  task: Task,
  removeAccount: () => Promise<void>,
): Promise<{ readonly deleted: number; readonly erased_at: string }> {
  const erasures = openErasures(task.connection);
  let left = owners;
  let deleted = 0;
  for (let pass = 1; pass <= MOST_PASSES; pass++) {
    // Not before the newest, even if this machine's clock is behind.
    const times = [new Date().toISOString(), ...left.map(({ newest }) => newest)];
    const erased_at = times.toSorted().at(-1) ?? '';
    // Recorded first: what was deleted by an erasure that was interrupted must not come back either.
    await erasures.record(sub, erased_at);
    if (pass === 1) await removeAccount();
    const count = await deleteOwners(left, () => erased_at, task);
    deleted += count;
    if (count === 0) return { deleted, erased_at };
    const found = await findOwners(task, { sub });
    // Owners whose inquiries are deleted are looked at again: a query is not isolated from a transaction, so the
    // idempotency key of an inquiry may have become visible after the inquiry itself.
    const emails = new Set(found.map(({ email }) => email));
    left = [...left.filter(({ email }) => !emails.has(email)), ...found];
  }
  throw new Error(`${countInquiries(deleted)} deleted, but new ones keep arriving; run it again.`);
}

async function replayErasures(task: Task): Promise<void> {
  const { connection, command, say } = task;
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
  if ((found > 0 || command.values.yes === true) && !isDryRun(task)) {
    await confirmStage(task);
    const deleted = await deleteOwners(owners, untilOf, task);
    printResult(
      { table: connection.table, erasures: count, users, deleted },
      task,
      `from ${table}`,
    );
  }
  if (lost > 0) {
    throw new Error(
      `${formatCount(lost, 'erasure')} cannot be replayed, because the key of the record was lost or replaced; see docs/runbook.md, "Restore the table".`,
    );
  }
}

/** Counts what the table has of the owners, expired inquiries included. */
async function findOwners(
  { connection: { inbox }, command: { io } }: Task,
  filter: ScanFilter,
  isWanted: (row: StoredInquiry) => boolean = () => true,
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  const pages = inbox.scan({ ...filter, withExpired: true });
  for await (const page of showProgress(io, pages)) {
    for (const { cognito_sub, email, created_at, reply_at } of page.filter(isWanted)) {
      const key = `${cognito_sub} ${email}`;
      const known = owners.get(key) ?? {
        inquiries: 0,
        unanswered: 0,
        oldest: created_at,
        newest: created_at,
      };
      owners.set(key, {
        cognito_sub,
        email,
        inquiries: known.inquiries + 1,
        unanswered: known.unanswered + Number(reply_at === undefined),
        oldest: created_at < known.oldest ? created_at : known.oldest,
        newest: created_at > known.newest ? created_at : known.newest,
      });
    }
  }
  return [...owners.values()].toSorted((a, b) => (a.newest < b.newest ? 1 : -1));
}

/**
 * Deletes the inquiries of owners.
 *
 * @param untilOf - Until when, inclusively, in the form of `created_at`.
 * @returns How many were deleted.
 */
async function deleteOwners(
  owners: readonly Owner[],
  untilOf: (owner: Owner) => string,
  { connection, command }: Task,
): Promise<number> {
  const pages = async function* () {
    for (const owner of owners) yield* deleteInquiries(connection, owner, untilOf(owner));
  };
  let deleted = 0;
  for await (const { length } of showProgress(command.io, pages(), 'deleted ')) deleted += length;
  return deleted;
}

/**
 * Deletes the inquiries of an owner, with the mailer's records of them and the idempotency keys. What is stored is read
 * strongly consistent and in pages.
 *
 * The keys are deleted before the inquiries, because an owner is found by inquiries only: the next run finds what an
 * interruption has left. They are read after the inquiries: a key is stored together with its inquiry.
 *
 * @param until - Later ones are kept. Inclusive, in the form of `created_at`.
 * @yields What was deleted.
 */
async function* deleteInquiries(
  { client, table }: Connection,
  { cognito_sub, email }: Owner,
  until: string,
): AsyncGenerator<readonly object[]> {
  const inquiries = createInquiryEntity(table, client);
  const deliveries = createDeliveryEntity(table, client);
  const keys = createIdempotencyKeyEntity(table, client);
  // Errors stay those of the SDK, which `describeFailure` knows.
  const options = { consistent: true, originalErr: true, unprocessed: 'raw' } as const;
  const owner = { cognito_sub, email };
  const firstToKeep = toFirstId(Date.parse(until) + 1);

  const readInquiries = (cursor: string | null) =>
    inquiries.query.byOwner(owner).go({ ...options, cursor, attributes: ['id', 'created_at'] });
  const readKeys = (cursor: string | null) =>
    keys.query.byOwner(owner).go({ ...options, cursor, attributes: ['key', 'inquiry'] });

  for await (const page of readPages(readInquiries)) {
    const rows = page.filter(({ created_at }) => !(created_at > until));
    // Also those whose inquiry is gone.
    for await (const found of readPages(readKeys)) {
      const erased = found.filter(({ inquiry }) => !(inquiry >= firstToKeep));
      await sendAll(
        erased.map(({ key }) => ({ cognito_sub, email, key })),
        createConversions(keys).fromComposite.toKeys,
        async (batch) => keys.delete(batch).go(options),
      );
    }
    await sendAll(
      rows.flatMap(({ id }) => DELIVERED_MAILS.map((mail) => ({ inquiry: id, mail }))),
      createConversions(deliveries).fromComposite.toKeys,
      async (batch) => deliveries.delete(batch).go(options),
    );
    await sendAll(
      rows.map(({ id }) => ({ cognito_sub, email, id })),
      createConversions(inquiries).fromComposite.toKeys,
      async (batch) => inquiries.delete(batch).go(options),
    );
    yield rows;
  }
}

/** Without --yes and a terminal to ask at, nothing is deleted. Says so. */
function isDryRun({ command: { io, values }, say }: Task): boolean {
  if (values.yes === true || (io.stdin.isTTY === true && io.stderr.isTTY === true)) return false;
  say('This was a dry run; nothing was deleted. --yes deletes.');
  return true;
}

async function isAgreed(
  question: string,
  expected: string,
  { command: { io, values } }: Task,
): Promise<boolean> {
  if (values.yes === true) return true;
  return isConfirmed(question, expected, undefined, { stdin: io.stdin, stdout: io.stderr });
}

/** @throws Error when something else than the stage's name was typed. */
async function confirmStage(task: Task): Promise<void> {
  const { stage, table } = task.connection;
  const question = `Type ${stage} to delete the inquiries from the table ${escapeUnsafe(table)}: `;
  if (!(await isAgreed(question, stage, task))) throw new Error(NOTHING);
}

function describeAccount(
  account: Account | { readonly status: 'kept' },
  sub: string,
  stage: string,
): string {
  const place = stage === 'local' ? 'The local stack' : `The stage ${stage}`;
  if (account.status === 'kept') return 'The account of the user is kept.';
  if (account.status === 'none') return `${place} has no account of ${sub} in its user pool.`;
  return account.status === 'found'
    ? `${place} has an account of ${sub} in its user pool ${account.pool}.`
    : `${place} has no user pool of its own: the account of the user has to be deleted at its issuer.`;
}

function printOwners(owners: readonly Owner[], task: Task): void {
  for (const owner of owners) {
    const { cognito_sub, email, inquiries, unanswered, oldest, newest } = owner;
    // Not a table: an address must be seen to its end.
    const text = `${showAddress(email)}
  sub     ${cognito_sub}
  has     ${countInquiries(inquiries)}, ${unanswered} unanswered
  oldest  ${formatTime(oldest)}
  newest  ${formatTime(newest)}\n`;
    print(text, owner, task);
  }
}

const printResult = (
  result: { readonly deleted: number; readonly [name: string]: unknown },
  task: Task,
  ofWhom: string,
): void => print(`Deleted ${countInquiries(result.deleted)} ${ofWhom}.\n`, result, task);

const print = (text: string, data: object, { command: { io, isInteractive } }: Task): void =>
  void io.stdout.write(isInteractive ? text : toJsonLine(data));

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
