import { randomUUID } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { keepIn } from '../keep-parts.ts';
import { startFunction } from '../lambda/function.ts';
import { startIncomingMail } from './incoming-mail.ts';
import { startMailbox } from './mailbox.ts';
import { startEventSourceMapping, type StreamOptions } from './stream.ts';

/** Milliseconds; stages have the same interval. */
const DIGEST_INTERVAL = 5 * 60_000;
const REPLY_DOMAIN = 'reply.example.com';
const TEAM = 'support@example.com';

interface MailOptions {
  environment: Record<string, string>;
  company: object;
  mailboxPort: number;
  smtpPort: number;
  stream: Pick<StreamOptions, 'endpoint' | 'streamArn' | 'log'>;
}

/** Starts mailer and receiver, the mailbox that shows their mails, and what invokes them. */
export async function startMail({
  environment: settings,
  company,
  mailboxPort,
  smtpPort,
  stream,
}: MailOptions) {
  await using parts = new AsyncDisposableStack();
  const keep = keepIn(parts);
  const mailbox = keep(
    await startMailbox(
      mailboxPort,
      (event) => take(mailer, event),
      async (answer) => {
        await createTransport({ host: '127.0.0.1', port: incoming.port }).sendMail(answer);
      },
    ),
  );
  const incoming = await startIncomingMail({
    port: smtpPort,
    domain: REPLY_DOMAIN,
    report: (event) => take(receiver, event),
  });
  const environment = {
    FOLLOW_UPS: 'true',
    FILES: 'true',
    ...settings,
    INBOX_TO: TEAM,
    INBOX_FROM: 'inquiries@example.com',
    COMPANY: JSON.stringify(company),
    AWS_ENDPOINT_URL_SESV2: mailbox.url,
    REPLY_DOMAIN,
  };
  const startPart = async (handler: string, more: Record<string, string> = {}) =>
    startFunction({
      module: new URL(handler, import.meta.url).href,
      environment: { ...environment, ...more },
      timeout: 60_000,
      lazy: true,
      log: stream.log,
    });
  const mailer = await startPart('../../mail/handler.ts');
  const receiver = await startPart('../../mail/received/handler.ts', {
    AWS_ENDPOINT_URL_S3: incoming.url,
    MAIL_BUCKET: 'mails',
    REPLY_FROM: TEAM,
  });
  const invoke = async (event: string) => mailer.invoke(event, randomUUID());
  /** Acts as the queue of SES's events: Lambda repeats what fails. */
  const take = (by: typeof mailer, body: string): void => {
    const event = JSON.stringify({ Records: [{ messageId: randomUUID(), body }] });
    const run = async () => by.invoke(event, randomUUID());
    void run()
      .catch(run)
      .catch(run)
      .catch(() => undefined);
  };
  const mappings = (['inquiries', 'replies'] as const).map((kind) =>
    startEventSourceMapping({ ...stream, kind, invoke }),
  );
  const sendDigests = (): void => void invoke('{"digest":true}').catch(() => undefined);
  const timer = setInterval(sendDigests, DIGEST_INTERVAL);
  const started = parts.move();
  return {
    mailboxUrl: mailbox.url,
    storeUrl: incoming.url,
    smtpUrl: `smtp://127.0.0.1:${incoming.port}`,
    reload(): void {
      mailer.reload();
      receiver.reload();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      // Closing is concurrent: a mapping waits for its invocation, which closing the mailer aborts.
      const running = [...mappings, incoming, mailer, receiver];
      await Promise.all(running.map(async (part) => part.close()));
      await started.disposeAsync();
    },
  };
}
