import { expect, it, vi } from 'vitest';
import { logMail, type CompletedMail } from '../../mail/log.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';

const error = Object.assign(new Error(EMAIL), { name: 'MessageRejected', item: EMAIL });
const MAILS: Partial<CompletedMail>[] = [
  {},
  { error },
  { outcome: 'withheld' },
  { outcome: 'deferred' },
  { outcome: 'failed', error },
  { outcome: 'refused', inquiry: EMAIL },
  { outcome: 'undelivered' },
];

it('a mail is a line without content, and one of metrics, as in golden', async () => {
  const lines: string[] = [];
  for (const level of ['info', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => {
      lines.push(`${level} ${JSON.stringify(line)}`);
    });
  }
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line).replace(/(?<="Timestamp":)\d+/, '0'));
    return true;
  });
  const mail = { requestId: 'request-1', inquiry: INQUIRY.id, outcome: 'sent' } as const;
  for (const change of MAILS) logMail({ ...mail, functionName: 'mailer', ...change });
  vi.restoreAllMocks();
  const logged = lines.join('\n');
  expect(logged).not.toContain('@');
  expect(logged).toMatchSnapshot();
});
