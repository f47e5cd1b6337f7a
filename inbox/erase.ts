import { createConversions } from 'electrodb';
import { createDeliveryEntity, DELIVERED_MAILS } from '../src/entities/delivery.ts';
import { createIdempotencyKeyEntity } from '../src/entities/idempotency-key.ts';
import { toFirstId } from '../src/entities/keys.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';
import { formatCount } from '../web/ui/format.ts';
import { isConfirmed, parseOptions, UsageError, type Io } from '../lib/command-line.ts';
import { escapeUnsafe, wrapLine } from '../lib/terminal-text.ts';
import { showAddress } from '../src/invisible.ts';
import { findAccount, type Account } from './accounts.ts';
import { parseUuid } from './arguments.ts';
import { readPages, sendAll } from './batches.ts';
import type { Connect, Connection } from './connect.ts';
import { openErasures } from './erasures.ts';
import { countInquiries, formatTime, isInteractive, showProgress, toJsonLine } from './output.ts';
import type { ScanFilter, StoredInquiry } from './store.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] erase --sub UUID | --email E [options]
       npm run inbox -- [--stage STAGE] [--table RESTORED --erasures NAME]
                        erase --replay [--yes]

Deletes all inquiries of a user, with their replies and idempotency keys, under
every email that the user has had, and the user's account if the stage has a
user pool of its own. First it says what it finds. It deletes the account when
you type "account", and all of it when you type the stage's name (local on the
laptop); or with --yes. Without --yes and a terminal it only says what it finds.
An erasure that was interrupted is finished by running it again. Each erasure is
recorded as a keyed hash of the user's id.

  --sub UUID      the user with this id at the identity provider
  --email E       the user who has sent inquiries under this email, as it is
                  written there
  --keep-account  keep the account in the stage's user pool
  --replay        in a restored table: delete again what has been erased
  --yes           delete without asking
  --json          one JSON object a line on a terminal, too
`;

const OPTIONS = {
  sub: { type: 'string' },
  email: { type: 'string' },
  'keep-account': { type: 'boolean', default: false },
  replay: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  json: { type: 'boolean' },
} as const;

/** What one user has under one email. */
interface Owner {
  readonly cognito_sub: string;
  readonly email: string;
  inquiries: number;
  unanswered: number;
  /** Both in the form of `created_at`. */
  oldest: string;
  newest: string;
}

/** An inquiry may arrive while its user is erased. Gives up after five passes over what a user keeps sending. */
const MOST_PASSES = 5;

interface Settings {
  readonly connection: Connection;
  readonly io: Io;
  readonly interactive: boolean;
  readonly yes: boolean;
  readonly keepAccount: boolean;
  /** Writes lines to standard error. */
  readonly say: (text: string) => void;
}

export async function eraseInquiries(connect: Connect, args: string[], io: Io): Promise<void> {
  const options = parseOptions(USAGE, OPTIONS, args);
  const { sub, email, replay } = options;
  if ([sub, email, replay || undefined].filter((each) => each !== undefined).length !== 1) {
    throw new UsageError('erase takes one of --sub UUID, --email E and --replay (see --help)');
  }
  const user = sub === undefined ? undefined : parseUuid(sub, '--sub');
  const settings: Settings = {
    connection: connect(),
    io,
    interactive: isInteractive(io, options.json),
    yes: options.yes,
    keepAccount: options['keep-account'],
    say: (text) => {
      for (const line of text.split('\n')) {
        // Commands stay whole, to be copied.
        io.stderr.write(`${line.includes('npm run') ? line : wrapLine(line, io.stderr.columns)}\n`);
      }
    },
  };
  if (replay) await replayErasures(settings);
  else if (user !== undefined) await eraseUser(user, settings);
  else await eraseByEmail(email ?? '', settings);
}

async function eraseByEmail(email: string, settings: Settings): Promise<void> {
  const owners = await findOwners(settings, { email });
  const [sub, ...others] = new Set(owners.map(({ cognito_sub }) => cognito_sub));
  if (sub === undefined) {
    settings.say(`There are no inquiries of ${showAddress(email)}; nothing was deleted.`);
  } else if (others.length > 0) {
    printOwners(owners, settings);
    throw new UsageError(
      `${showAddress(email)} was used by ${others.length + 1} users; nothing was deleted. Choose one with --sub.`,
    );
  } else {
    await eraseUser(sub, settings);
  }
}

async function eraseUser(sub: string, settings: Settings): Promise<void> {
  const { connection, say, yes, keepAccount } = settings;
  let owners = await findOwners(settings, { sub });
  printOwners(owners, settings);
  const account = keepAccount ? ({ status: 'kept' } as const) : await findAccount(connection, sub);
  say(describeAccount(account, sub, connection.stage));
  const hasAccount = account.status === 'found';
  if (owners.length === 0) {
    const hint = yes || hasAccount ? '' : ' --yes records the erasure nevertheless.';
    say(`There are no inquiries of ${sub}.${hint}`);
  }
  if (owners.length === 0 && !hasAccount) {
    if (!yes) return;
  } else if (isDryRun(settings)) {
    return;
  }
  const question = 'Type account to delete the account, too, or anything else to keep it: ';
  const deletesAccount = hasAccount && (await isAgreed(question, 'account', settings));
  if (owners.length > 0) await confirmStage(settings);
  else if (hasAccount && !deletesAccount) throw new Error('Nothing was deleted.');

  const erasures = openErasures(connection);
  let deleted = 0;
  let erased_at = '';
  for (let pass = 1; ; pass++) {
    // Not before the newest, even if this machine's clock is behind.
    erased_at =
      [new Date().toISOString(), ...owners.map(({ newest }) => newest)].toSorted().at(-1) ?? '';
    // Recorded first: what was deleted by an erasure that was interrupted must not come back either.
    await erasures.record(sub, erased_at);
    // Before the inquiries, by which an interrupted erasure is found again.
    if (pass === 1 && hasAccount && deletesAccount) await account.remove();
    const count = await deleteOwners(owners, () => erased_at, settings);
    deleted += count;
    if (count === 0) break;
    if (pass === MOST_PASSES) {
      throw new Error(
        `${countInquiries(deleted)} deleted, but new ones keep arriving; run it again.`,
      );
    }
    const found = await findOwners(settings, { sub });
    // Owners whose inquiries are deleted are looked at again: a query is not isolated from a transaction, so the
    // idempotency key of an inquiry may have become visible after the inquiry itself.
    const emails = new Set(found.map(({ email }) => email));
    owners = [...owners.filter(({ email }) => !emails.has(email)), ...found];
  }
  const outcome = !hasAccount ? account.status : deletesAccount ? 'deleted' : 'kept';
  printResult({ cognito_sub: sub, deleted, erased_at, account: outcome }, settings, `of ${sub}`);
  if (hasAccount) say(`The account is ${outcome}.`);
  say(describeRemains(connection));
}

async function replayErasures(settings: Settings): Promise<void> {
  const { connection, say, yes } = settings;
  const table = escapeUnsafe(connection.table);
  const { count, lost, find } = await openErasures(connection).read();
  say(`${formatCount(count, 'erasure is', 'erasures are')} recorded for ${connection.stage}.`);
  const untilOf = ({ cognito_sub }: Pick<Owner, 'cognito_sub'>): string => find(cognito_sub) ?? '';
  const owners = await findOwners(settings, {}, (row) => row.created_at <= untilOf(row));
  const found = owners.reduce((sum, { inquiries }) => sum + inquiries, 0);
  const users = new Set(owners.map(({ cognito_sub }) => cognito_sub)).size;
  say(
    `The table ${table} has ${countInquiries(found)} of ${formatCount(users, 'user')} from before the erasure.`,
  );
  if ((found > 0 || yes) && !isDryRun(settings)) {
    await confirmStage(settings);
    const deleted = await deleteOwners(owners, untilOf, settings);
    printResult(
      { table: connection.table, erasures: count, users, deleted },
      settings,
      `from ${table}`,
    );
  }
  if (lost > 0) {
    throw new Error(
      `${formatCount(lost, 'erasure', 'erasures')} cannot be replayed, because the key of the record was lost or replaced; see docs/runbook.md, "Restore the table".`,
    );
  }
}

/** Counts what the table has of the owners, expired inquiries included. */
async function findOwners(
  { connection: { inbox }, io }: Settings,
  filter: ScanFilter,
  isWanted: (row: StoredInquiry) => boolean = () => true,
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  const pages = inbox.scan({ ...filter, withExpired: true });
  for await (const page of showProgress(
    io,
    pages,
    (count) => `Searching: ${countInquiries(count)} …`,
  )) {
    for (const { cognito_sub, email, created_at, reply_at } of page.filter(isWanted)) {
      const key = `${cognito_sub} ${email}`;
      const none = { inquiries: 0, unanswered: 0, oldest: created_at, newest: created_at };
      const owner = owners.get(key) ?? { cognito_sub, email, ...none };
      owners.set(key, owner);
      owner.inquiries++;
      if (reply_at === undefined) owner.unanswered++;
      if (created_at < owner.oldest) owner.oldest = created_at;
      if (created_at > owner.newest) owner.newest = created_at;
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
  { connection, io }: Settings,
): Promise<number> {
  const pages = async function* () {
    for (const owner of owners) yield* deleteInquiries(connection, owner, untilOf(owner));
  };
  let deleted = 0;
  for await (const page of showProgress(
    io,
    pages(),
    (count) => `${countInquiries(count)} deleted …`,
  )) {
    deleted += page.length;
  }
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
function isDryRun({ io, say, yes }: Settings): boolean {
  if (yes || (io.stdin.isTTY === true && io.stderr.isTTY === true)) return false;
  say('This was a dry run; nothing was deleted. --yes deletes.');
  return true;
}

async function isAgreed(
  question: string,
  expected: string,
  { io, yes }: Settings,
): Promise<boolean> {
  return yes || isConfirmed(question, expected, undefined, { stdin: io.stdin, stdout: io.stderr });
}

/** @throws Error when something else than the stage's name was typed. */
async function confirmStage(settings: Settings): Promise<void> {
  const { stage, table } = settings.connection;
  const question = `Type ${stage} to delete the inquiries from the table ${escapeUnsafe(table)}: `;
  if (!(await isAgreed(question, stage, settings))) throw new Error('Nothing was deleted.');
}

function describeAccount(
  account: Account | { readonly status: 'kept' },
  sub: string,
  stage: string,
): string {
  const place = stage === 'local' ? 'The local stack' : `The stage ${stage}`;
  if (account.status === 'kept') return 'The account of the user is kept.';
  if (account.status === 'none') return `${place} has no account of ${sub} in its user pool.`;
  if (account.status === 'found') {
    return `${place} has an account of ${sub} in its user pool ${account.pool}.`;
  }
  return `${place} has no user pool of its own: the account of the user has to be deleted at its issuer.`;
}

function printOwners(owners: readonly Owner[], { io: { stdout }, interactive }: Settings): void {
  if (!interactive) {
    for (const owner of owners) stdout.write(toJsonLine(owner));
    return;
  }
  for (const { cognito_sub, email, inquiries, unanswered, oldest, newest } of owners) {
    // Not a table: an address must be seen to its end.
    stdout.write(
      `${showAddress(email)}
  sub     ${cognito_sub}
  has     ${countInquiries(inquiries)}, ${unanswered} unanswered
  oldest  ${formatTime(oldest)}
  newest  ${formatTime(newest)}\n`,
    );
  }
}

function printResult(
  result: { readonly deleted: number; readonly [name: string]: unknown },
  { io, interactive }: Settings,
  ofWhom: string,
): void {
  const line = `Deleted ${countInquiries(result.deleted)} ${ofWhom}.\n`;
  io.stdout.write(interactive ? line : toJsonLine(result));
}

/** Where the erased texts may still be. */
function describeRemains({ stage, options, erasures }: Connection): string {
  const onStage = [
    'point-in-time recovery: for pitr_days (35 unless set). Clean a restored table before it is used:',
    `  npm run inbox -- ${options} --table RESTORED --erasures ${escapeUnsafe(erasures.table)} erase --replay   (docs/runbook.md, "Restore the table")`,
    'the stream of the table, which only the mailer reads: for 24 hours',
    'the mailer’s counts of mails per hour, which hold a hash of the user and ids of inquiries: for days',
    'idempotency keys under an email of which no inquiry was left (retention_days): for days',
    'backups made by hand, and exports of the table or of the inbox: until someone deletes them',
    'mails already sent, in the mailboxes of the team and of the user',
  ];
  const onLaptop = [
    'exports of the inbox: until someone deletes them',
    'mails already sent, in the local mailbox: until npm start ends',
  ];
  const lines = ['What remains elsewhere:', ...(stage === 'local' ? onLaptop : onStage)].join(
    '\n  ',
  );
  return `${lines}\nThe logs hold no personal data.`;
}
