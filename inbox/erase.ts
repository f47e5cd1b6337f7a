import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import { escapeAddress } from '../text/invisible.ts';
import { formatCount } from '../ui/format.ts';
import type { Connection } from './connect.ts';
import { openErasures } from './erasures.ts';
import type { Command } from './options.ts';
import { countInquiries } from './output.ts';
import { deleteOwners, findOwners, printOwners, type Owner } from './owners.ts';
import { findPerson, type Person } from './person.ts';
import { parseForget, removeUsers, replayErasures } from './replay.ts';
import { createTask, DRY_RUN, UNCHANGED, type Task } from './task.ts';

const MOST_ROUNDS = 5;

export async function run(command: Command): Promise<void> {
  const { sub, email } = command.filter;
  const isReplay = command.values.replay === true;
  if (isReplay === (sub !== undefined || email !== undefined)) {
    throw new UsageError('erase takes --sub UUID, --email E or both, or --replay (see --help)');
  }
  const { 'forget-before': forget, users } = command.values;
  if (!isReplay && (forget ?? users) !== undefined) {
    throw new UsageError('--forget-before and --users need --replay.');
  }
  const before = forget === undefined ? undefined : parseForget(forget);
  const task = createTask(command);
  if (users !== undefined) return removeUsers(users, task);
  return isReplay ? replayErasures(task, before) : erasePerson(command, task);
}

async function erasePerson({ filter, values }: Command, task: Task): Promise<void> {
  const { connection, consent, say } = task;
  const person = await findPerson(filter, task, values['keep-account'] === true);
  const { sub, owners, account } = person;
  const name = sub ?? escapeAddress(`${filter.email}`);
  printOwners(owners, task);
  say(describeAccount(person, name, connection));
  const { count = 0 } = person.mails ?? {};
  if (count > 0) say(`The user is named in ${formatCount(count, 'received mail')}.`);
  for (const one of person.suppressed?.addresses ?? []) {
    say(`SES sends nothing to ${escapeAddress(one)}, from which a mail came back.`);
  }
  const things = listThings(person, connection);
  const isUnknown = things.length === 0 && account === undefined && consent !== 'given';
  if (sub === undefined && things.length === 0) {
    return say(`There is nothing of ${name}; nothing was deleted.`);
  }
  if (owners.length === 0) {
    const hint = isUnknown && sub !== undefined ? ' --yes records the erasure nevertheless.' : '';
    say(`There are no inquiries of ${name}.${hint}`);
  } else if (consent !== 'given') {
    // Who asks for an erasure has a right to a copy (GDPR, article 15).
    const command = ['npm run inbox --', connection.options, `export --sub ${sub} --out FILE`];
    say(`To give the user a copy first:\n  ${command.filter(Boolean).join(' ')}`);
  }
  if (isUnknown) return;
  if (consent === 'absent') return say(DRY_RUN);
  const isKept =
    account !== undefined &&
    (await task.isRefused('account', 'delete the account, too, or anything else to keep it'));
  const isRefused =
    things.length === 0
      ? isKept
      : await task.isRefused(connection.stage, `delete ${things.join(' and ')}`);
  if (isRefused) throw new Error(UNCHANGED);

  const agreed = isKept ? { ...person, accounts: 'kept' as const, account: undefined } : person;
  const { deleted, erased_at } = await erase(agreed, filter.email, task);
  const status = describeStatus(agreed);
  const mails = person.mails?.count || undefined;
  const suppressed = person.suppressed?.addresses.length || undefined;
  const result = { deleted, erased_at, account: status, mails, suppressed };
  const who = sub === undefined ? { email: filter.email } : { cognito_sub: sub };
  task.print(`Deleted ${countInquiries(deleted)} of ${name}.\n`, { ...who, ...result });
  if (account !== undefined) say(`The account is ${status}.`);
  say(describeRemains(connection));
}

const describeStatus = ({ accounts, account }: Person): string =>
  typeof accounts === 'string' ? accounts : account === undefined ? 'none' : 'deleted';

function describeAccount({ accounts, account }: Person, name: string, { stage }: Connection) {
  const place = stage === 'local' ? 'The local stack' : `The stage ${stage}`;
  if (accounts === 'kept') return 'The account of the user is kept.';
  if (accounts === 'elsewhere') {
    return `${place} has no user pool of its own: the account of the user has to be deleted at its issuer.`;
  }
  return account === undefined
    ? `${place} has no account of ${name} in its user pool.`
    : `${place} has an account of ${name} in its user pool ${accounts.id}.`;
}

/** Names what is deleted beside the account. */
const listThings = ({ owners, mails, suppressed }: Person, { table }: Connection): string[] => [
  ...(owners.length > 0 ? [`the inquiries from the table ${escapeUnsafe(table)}`] : []),
  ...(mails?.count ? ['the mails'] : []),
  ...(suppressed?.addresses.length ? ["the address from SES's list"] : []),
];

/**
 * Mails come first, and the given address and the account last, since a run after an interrupted one finds the rest by
 * them.
 */
async function erase(
  { sub, owners, accounts, account, mails, suppressed }: Person,
  email: string | undefined,
  task: Task,
): Promise<{ deleted: number; erased_at?: string }> {
  await mails?.remove();
  await suppressed?.remove();
  const isGiven = (owner: Owner): number => Number(owner.email === email);
  const sorted = owners.toSorted((a, b) => isGiven(a) - isGiven(b));
  const result = sub === undefined ? { deleted: 0 } : await eraseInquiries(sub, sorted, task);
  if (account !== undefined && typeof accounts !== 'string') await accounts.remove(account);
  return result;
}

/** Deletes until nothing more arrives. */
async function eraseInquiries(
  sub: string,
  owners: Owner[],
  task: Task,
): Promise<{ deleted: number; erased_at: string }> {
  const erasures = openErasures(task.connection);
  let left = owners;
  let deleted = 0;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    // This clock may be behind that of the newest inquiry.
    const times = [new Date().toISOString(), ...left.map(({ newest }) => newest)];
    const erased_at = times.toSorted().at(-1) ?? '';
    // Recorded first: what an interrupted erasure has deleted must not come back either.
    await erasures.record(sub, erased_at);
    const count = await deleteOwners(left, () => erased_at, task);
    deleted += count;
    if (count === 0) return { deleted, erased_at };
    const found = await findOwners(task, { sub });
    // A query is not isolated from a transaction: a key may become visible after its inquiry.
    const emails = new Set(found.map((owner) => owner.email));
    left = [...left.filter((owner) => !emails.has(owner.email)), ...found];
  }
  throw new Error(`${countInquiries(deleted)} deleted, but new ones keep arriving; run it again.`);
}

function describeRemains({ stage, options, erasures }: Connection): string {
  const restored = `\nClean a restored table before it is used:
  npm run inbox -- ${options} --table RESTORED --erasures ${escapeUnsafe(erasures.table)} erase --replay`;
  return `docs/privacy.md lists where copies remain, such as backups and mailboxes, and until when.${stage === 'local' ? '' : restored}`;
}
