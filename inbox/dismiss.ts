import { findInquiry } from './arguments.ts';
import type { Command } from './options.ts';
import { recordAnswer } from './record-answer.ts';

export async function run(command: Command): Promise<number> {
  const connection = command.connect();
  const inquiry = await findInquiry(connection.inquiries, command.named);
  return recordAnswer(command, connection, inquiry);
}
