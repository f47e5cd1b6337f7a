/** What the service has of a person, who asked for a copy or an erasure. docs/privacy.md */
import { escapeAddress } from '../text/invisible.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import { openPool, type Account, type Pool } from './accounts.ts';
import { findOwners, type Owner } from './owners.ts';
import { findReceivedMails, type ReceivedMails } from './received-mails.ts';
import { findSuppressed, type Suppressed } from './suppressed.ts';
import { isNear } from './spelling.ts';
import type { Task } from './task.ts';

export interface Person {
  /** Undefined: only an address is known. */
  sub: string | undefined;
  owners: Owner[];
  /** `elsewhere`: the stage has no pool of its own. */
  accounts: Pool | 'elsewhere' | 'kept';
  account: Account | undefined;
  /** Undefined: the stage takes no answers by mail. */
  mails: ReceivedMails | undefined;
  /** Undefined: there is no list, or it cannot be read. */
  suppressed: Suppressed | undefined;
}

/**
 * Finds a user by id, or by email if exactly one has used it. With both, the email is one more address of the user.
 *
 * @throws UsageError if several users have the email.
 */
export async function findPerson(
  { sub: given, email }: { sub?: string | undefined; email?: string | undefined },
  task: Task,
  keepsAccount = false,
): Promise<Person> {
  const { connection } = task;
  const accounts = keepsAccount ? 'kept' : ((await openPool(connection)) ?? 'elsewhere');
  const pool = typeof accounts === 'string' ? undefined : accounts;
  const sub = given ?? (email === undefined ? undefined : await findSub(email, pool, task));
  const owners = sub === undefined ? [] : await findOwners(task, { sub });
  const account = sub === undefined ? undefined : await pool?.findBySub(sub);
  const known = [email, account?.email, ...owners.map((owner) => owner.email)];
  const addresses = [...new Set(known)].flatMap((address) => address || []);
  const ids = owners.flatMap((owner) => owner.ids);
  const mails = await findReceivedMails(connection, { addresses, ids });
  const suppressed = await readSuppressed(addresses, task);
  return { sub, owners, accounts, account, mails, suppressed };
}

/** Says which addresses are spelt nearly so: an email is compared byte for byte. */
async function findSub(
  email: string,
  pool: Pool | undefined,
  task: Task,
): Promise<string | undefined> {
  const owners = await findOwners(task, {}, (row) => isNear(row.email, email));
  const accounts = (await pool?.findByEmail(email)) ?? [];
  const users = [
    ...owners.map((owner) => ({ sub: owner.cognito_sub, address: owner.email })),
    ...accounts.map((account) => ({ sub: account.sub, address: account.email })),
  ];
  const others = users.filter(({ address }) => address !== email);
  if (others.length > 0) {
    const lines = others.map(({ sub, address }) => `\n  ${escapeAddress(address)}, of ${sub}`);
    task.say(`Nearly the same address, maybe another person's:${[...new Set(lines)].join('')}`);
  }
  const subs = new Set(users.flatMap(({ sub, address }) => (address === email ? sub : [])));
  if (subs.size > 1) {
    throw new UsageError(
      `${escapeAddress(email)} was used by ${subs.size} users; choose one with --sub: ${[...subs].join(', ')}`,
    );
  }
  return [...subs][0];
}

/** An erasure goes on if the list cannot be read. */
async function readSuppressed(
  addresses: string[],
  { connection, say }: Task,
): Promise<Suppressed | undefined> {
  if (connection.stage === 'local') return undefined;
  return findSuppressed(addresses).catch(({ name }: Error) => {
    say(
      `SES's suppression list, which may have the address, cannot be read (${name}). Whoever may read it deletes the address with aws sesv2 delete-suppressed-destination.`,
    );
    return undefined;
  });
}
