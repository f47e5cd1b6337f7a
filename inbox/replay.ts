import { writeFileSync } from 'node:fs';
import { parseObject, readIfThere, UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import { formatCount } from '../ui/format.ts';
import { parseTime } from './arguments.ts';
import { openErasures } from './erasures.ts';
import { formatTime } from './output.ts';
import { deleteFromTable, findOwners, type Owner } from './owners.ts';
import type { Task } from './task.ts';

/** Milliseconds: a table can be restored as it was so long ago (`pitr_days`). */
const RESTORABLE = 35 * 86_400_000;

/** @throws UsageError for records that a restored table may need. */
export function parseForget(text: string): string {
  const time = parseTime(text, '--forget-before');
  if (time > Date.now() - RESTORABLE) {
    throw new UsageError(
      '--forget-before must be 35 days ago or more: a table can be restored as it was then.',
    );
  }
  return new Date(time).toISOString();
}

/** @param before - Older records are deleted. */
async function forget(before: string, task: Task): Promise<void> {
  const purpose = `delete records of erasures before ${formatTime(before)}, which no backup needs`;
  if (!(await task.isAgreed(purpose))) return;
  const forgotten = await openErasures(task.connection).forget(before);
  task.print(`Deleted ${formatCount(forgotten, 'record')} of erasures.\n`, { forgotten });
}

/** Deletes again, in a restored table. @param before - First, older records are deleted. */
export async function replayErasures(task: Task, before?: string): Promise<void> {
  if (before !== undefined) await forget(before, task);
  await replay(task);
}

/** What `aws cognito-idp list-users` prints. */
interface UserList {
  Users?: { Attributes?: { Name: string; Value?: string }[] }[];
}

/** Removes erased users from a list. An import would give them new ids, which no replay finds. */
export async function removeUsers(file: string, { connection, print }: Task): Promise<void> {
  const list: UserList | undefined = parseObject(readIfThere(file) ?? '');
  if (!Array.isArray(list?.Users)) {
    throw new UsageError(`${escapeUnsafe(file)} is no list of aws cognito-idp list-users.`);
  }
  const { lost, find } = await openErasures(connection).read();
  failIfLost(lost);
  const Users = list.Users.filter(({ Attributes = [] }) => {
    const sub = Attributes.find(({ Name }) => Name === 'sub')?.Value ?? '';
    return find(sub) === undefined;
  });
  writeFileSync(file, `${JSON.stringify({ ...list, Users }, null, 2)}\n`, { mode: 0o600 });
  const removed = list.Users.length - Users.length;
  print(`Removed ${formatCount(removed, 'user')} from ${escapeUnsafe(file)}.\n`, { file, removed });
}

function failIfLost(lost: number): void {
  if (lost === 0) return;
  throw new Error(
    `${formatCount(lost, 'erasure')} cannot be replayed, because the key of the record was lost or replaced; see docs/runbook.md, "Restore the table".`,
  );
}

async function replay(task: Task): Promise<void> {
  const { connection } = task;
  const { count, lost, find } = await openErasures(connection).read();
  task.say(`${formatCount(count, 'erasure is', 'erasures are')} recorded for ${connection.stage}.`);
  const untilOf = ({ cognito_sub }: Pick<Owner, 'cognito_sub'>): string => find(cognito_sub) ?? '';
  const owners = await findOwners(task, {}, (row) => row.created_at <= untilOf(row));
  await deleteFromTable(owners, untilOf, task, { before: 'the erasure', erasures: count });
  failIfLost(lost);
}
