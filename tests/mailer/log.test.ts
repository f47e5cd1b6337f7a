import { expect, it, vi } from 'vitest';
import { logMail, type CompletedMail } from '../../src/mailer/log.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';

const { id } = INQUIRY;
const error = Object.assign(new Error(EMAIL), { name: 'MessageRejected', item: EMAIL });
const [SENT, FAILED] = [{ MailsSent: 1 }, { MailFailures: 1 }];

it.each<[string, Partial<CompletedMail>, string, object, object]>([
  ['sent', {}, 'info', {}, SENT],
  ['sent, but not recorded', { error }, 'warn', { errorName: error.name }, SENT],
  ['withheld', { outcome: 'withheld' }, 'info', {}, { MailsWithheld: 1 }],
  ['deferred', { outcome: 'deferred' }, 'warn', {}, {}],
  ['failed', { outcome: 'failed', error }, 'warn', { errorName: error.name }, FAILED],
  ['refused', { outcome: 'refused', inquiry: EMAIL }, 'error', { inquiry: 'malformed' }, FAILED],
  ['undelivered', { outcome: 'undelivered' }, 'error', {}, FAILED],
])('a mail that is %s is one line without content, and one of metrics', (...row) => {
  const [, change, level, shown, counted] = row;
  const spy = vi.spyOn(console, level as 'info').mockReturnValue();
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const line = { requestId: 'request-1', inquiry: id, outcome: 'sent' } as const;
  logMail({ ...line, functionName: 'mailer', ...change });
  const { error: _, ...changed } = change;
  expect(spy.mock.calls).toEqual([[{ ...line, ...changed, ...shown }]]);
  const metrics = { MailsSent: 0, MailFailures: 0, MailsWithheld: 0, ...counted };
  expect(JSON.parse(String(write.mock.lastCall?.[0]))).toMatchObject(metrics);
});
