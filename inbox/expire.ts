/** Deletes what is older than a person decides. docs/adr/0084 */
import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeAddress } from '../text/invisible.ts';
import { formatCount } from '../ui/format.ts';
import { openPool, type Account } from './accounts.ts';
import { parseTime } from './arguments.ts';
import type { Command } from './options.ts';
import { formatTime } from './output.ts';
import { deleteFromTable, findOwners } from './owners.ts';
import { createTask, type Task } from './task.ts';

export async function run(command: Command): Promise<void> {
  const { accounts, 'older-than': olderThan } = command.values;
  if (olderThan === undefined) {
    throw new UsageError('expire takes --older-than WHEN, such as 365d (see --help)');
  }
  const time = parseTime(olderThan, '--older-than');
  const task = createTask(command);
  return accounts === true ? expireAccounts(time, task) : expireInquiries(time, task);
}

async function expireInquiries(time: number, task: Task): Promise<void> {
  const until = new Date(time - 1).toISOString();
  const owners = await findOwners(task, {}, (row) => row.created_at <= until);
  const unanswered = owners.reduce((sum, owner) => sum + owner.unanswered, 0);
  const before = `${formatTime(time)}, ${unanswered} unanswered`;
  await deleteFromTable(owners, () => until, task, { before });
}

async function expireAccounts(time: number, task: Task): Promise<void> {
  const { connection, say, print } = task;
  const pool = await openPool(connection);
  if (pool === undefined) {
    throw new Error(
      `${connection.stage} has no user pool of its own; its issuer has the accounts.`,
    );
  }
  const since = new Date(time).toISOString();
  const recent = await findOwners(task, { since: time });
  const senders = new Set(recent.map(({ cognito_sub }) => cognito_sub));
  const accounts: Account[] = [];
  for await (const page of pool.list()) {
    accounts.push(...page.filter(({ sub, created_at }) => created_at < since && !senders.has(sub)));
  }
  for (const { sub, email, created_at } of accounts) {
    const text = `${escapeAddress(email)}  ${sub}  since ${formatTime(created_at)}\n`;
    print(text, { cognito_sub: sub, email, created_at });
  }
  say(
    `${formatCount(accounts.length, 'account has', 'accounts have')} sent nothing since ${formatTime(time)}.`,
  );
  if (accounts.length === 0) return;
  const purpose = `delete ${formatCount(accounts.length, 'account')} from the user pool ${pool.id}`;
  if (!(await task.isAgreed(purpose))) return;
  for (const account of accounts) await pool.remove(account);
  print(`Deleted ${formatCount(accounts.length, 'account')}.\n`, { accounts: accounts.length });
}
