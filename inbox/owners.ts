import type { ScanFilter, StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import { escapeAddress } from '../text/invisible.ts';
import { formatCount } from '../ui/format.ts';
import { countInquiries, formatTime, showProgress } from './output.ts';
import type { Task } from './task.ts';

/** A user under one email. */
export interface Owner {
  cognito_sub: string;
  email: string;
  ids: string[];
  unanswered: number;
  /** Both in the form of `created_at`. */
  oldest: string;
  newest: string;
}

/** Also with expired inquiries; the one with the newest is first. */
export async function findOwners(
  { connection: { inquiries }, io }: Pick<Task, 'connection' | 'io'>,
  filter: ScanFilter,
  isWanted: (row: StoredInquiry) => boolean = () => true,
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  const pages = inquiries.scan({ ...filter, withExpired: true });
  for await (const page of showProgress(io, pages)) {
    for (const { id, cognito_sub, email, created_at, reply_at } of page.filter(isWanted)) {
      const key = `${cognito_sub} ${email}`;
      const times = { oldest: created_at, newest: created_at };
      const owner = owners.get(key) ?? { cognito_sub, email, ids: [], unanswered: 0, ...times };
      owners.set(key, owner);
      owner.ids.push(id);
      owner.unanswered += Number(reply_at === undefined);
      if (created_at < owner.oldest) owner.oldest = created_at;
      if (created_at > owner.newest) owner.newest = created_at;
    }
  }
  return [...owners.values()].toSorted((a, b) => (a.newest < b.newest ? 1 : -1));
}

/** @param untilOf - Inclusive, in the form of `created_at`. */
export async function deleteOwners(
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

/**
 * Says what the table has, and deletes it after a question.
 *
 * @param untilOf - As of `deleteOwners`.
 * @param details - `before`: the end of what is said; others are printed.
 */
export async function deleteFromTable(
  owners: Owner[],
  untilOf: (owner: Owner) => string,
  task: Task,
  { before, ...details }: { before: string; erasures?: number },
): Promise<void> {
  const { table } = task.connection;
  const name = escapeUnsafe(table);
  const found = owners.reduce((sum, { ids }) => sum + ids.length, 0);
  const users = new Set(owners.map(({ cognito_sub }) => cognito_sub)).size;
  const of = `${countInquiries(found)} of ${formatCount(users, 'user')}`;
  task.say(`The table ${name} has ${of} from before ${before}.`);
  if (found === 0 && task.consent !== 'given') return;
  if (!(await task.isAgreed(`delete the inquiries from the table ${name}`))) return;
  const deleted = await deleteOwners(owners, untilOf, task);
  const result = { table, ...details, users, deleted };
  task.print(`Deleted ${countInquiries(deleted)} from ${name}.\n`, result);
}

export function printOwners(owners: Owner[], { print }: Task): void {
  for (const { ids, ...owner } of owners) {
    const { cognito_sub, email, unanswered, oldest, newest } = owner;
    // Not a table: an address must be seen to its end.
    const text = `${escapeAddress(email)}
  sub     ${cognito_sub}
  has     ${countInquiries(ids.length)}, ${unanswered} unanswered
  oldest  ${formatTime(oldest)}
  newest  ${formatTime(newest)}\n`;
    print(text, { cognito_sub, email, inquiries: ids.length, unanswered, oldest, newest });
  }
}
