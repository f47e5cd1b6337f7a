/** The whole way of answers by mail on a laptop, with an SMTP client in place of a mail program. */
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import type { InquiryListResponse } from '../../src/contract.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import type { SentMail } from '../helpers/mailer.ts';

const TEAM = 'support@example.com';
const USER = 'ana@users.example';

describeOnDynamoDbLocal('a stack on a laptop', () => {
  let stack: Stack;
  let token: string;
  beforeAll(async () => {
    const keysFile = join(createFolder(afterAll), 'keys.json');
    stack = await startStack({ keysFile, log: () => undefined });
    token = await stack.issuer.token({ email: USER, sub: crypto.randomUUID() });
    return stack.close;
  });

  const call = async (subject?: string) =>
    fetch(`${stack.state.gateway}/inquiries`, {
      method: subject === undefined ? 'GET' : 'POST',
      headers: { authorization: token },
      ...(subject !== undefined && { body: JSON.stringify({ subject, body: 'It is broken.' }) }),
    });
  const list = async () => ((await (await call()).json()) as InquiryListResponse).inquiries;
  const mails = async () =>
    (await (await fetch(`${stack.state.mailbox}/mails`)).json()) as SentMail[];
  const findMail = async (to: string, subject: string): Promise<SentMail> => {
    const find = async () =>
      (await mails()).find(
        ({ Destination, Content }) =>
          Destination.ToAddresses[0] === to && Content.Simple.Subject.Data.includes(subject),
      );
    await expect.poll(find).toBeDefined();
    return (await find()) as SentMail;
  };
  const reply = async ({ ReplyToAddresses: to, Content }: SentMail, from: string, text: string) => {
    const { port } = new URL(stack.state.smtp ?? '');
    const transport = createTransport({ host: '127.0.0.1', port: Number(port) });
    const quoted = Content.Simple.Body.Text.Data.replaceAll(/^/gm, '> ');
    const attribution = 'On 26/11/2026 10:00, inquiries@example.com wrote:';
    return transport.sendMail({
      from,
      to,
      subject: 'Re:',
      text: `${text}\n\n${attribution}\n${quoted}`,
    });
  };

  it('takes an answer and the user’s next mail by SMTP', async () => {
    await call('Lamp');
    await reply(await findMail(TEAM, '] Lamp'), TEAM, 'We send a new one.');
    const answer = await findMail(USER, 'Re: Lamp');
    expect(answer.Content.Simple.Body.Text.Data).toMatch(/^We send a new one\.$/m);
    await reply(answer, USER, 'And the shade?');
    await expect
      .poll(list)
      .toMatchObject([
        { subject: 'Re: Lamp', body: 'And the shade?', email: USER },
        { subject: 'Lamp' },
      ]);
    await findMail(TEAM, '] Re: Lamp');
  });

  it('refuses other domains, and passes on what fails a verdict', async () => {
    const { port } = new URL(stack.state.smtp ?? '');
    const transport = createTransport({ host: '127.0.0.1', port: Number(port) });
    const mail = { from: TEAM, to: 'x@reply.example.com', subject: 's', text: 't' };
    await expect(transport.sendMail({ ...mail, to: USER })).rejects.toThrow('Unknown domain');
    await transport.sendMail({ ...mail, headers: { 'X-Verdicts': 'dmarc=FAIL' } });
    await findMail(TEAM, 'cannot be verified (DMARC)');
  });
});
