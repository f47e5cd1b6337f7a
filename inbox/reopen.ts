import { toReference } from '../src/limits.ts';
import { findInquiry } from './arguments.ts';
import type { Command } from './options.ts';
import { toJsonLine } from './output.ts';
import { reportAnswer } from './record-answer.ts';

export async function run({ named, isInteractive, io, connect }: Command): Promise<number> {
  const { inquiries } = connect();
  const inquiry = await findInquiry(inquiries, named);
  const { id, reply, reply_at } = inquiry;
  if (reply !== undefined) return reportAnswer(io, inquiry);
  if (reply_at !== undefined && !(await inquiries.reopen(inquiry, reply_at))) {
    throw new Error('Somebody has changed it meanwhile; nothing was changed.');
  }
  io.stdout.write(isInteractive ? `${toReference(id)} is unanswered.\n` : toJsonLine({ id }));
  return 0;
}
