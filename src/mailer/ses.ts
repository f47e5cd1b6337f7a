import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Mail } from './mails.ts';

export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/** Milliseconds. Longer than those of the database: a mail whose response comes too late is sent a second time. */
const TIMEOUTS = {
  connectionTimeout: 1_000,
  requestTimeout: 8_000,
  throwOnRequestTimeout: true,
  socketTimeout: 8_000,
};

/**
 * Creates the function that sends a mail with SES. Credentials and endpoint come from the `AWS_*` environment. An
 * attempt ends after 8 s without a response; three attempts at most; the signal bounds the whole call.
 *
 * It rejects with the SDK's error, or with `UnconfirmedMail` when a success has no MessageId. When the response to an
 * accepted mail is lost, the next attempt sends it again: SES has no idempotency token. docs/adr/0080
 */
export function createSendMail({
  region,
  configurationSet,
}: {
  readonly region: string | undefined;
  readonly configurationSet?: string | undefined;
}): SendMail {
  const client = new SESv2Client({
    requestHandler: TIMEOUTS,
    ...(region !== undefined && { region }),
    maxAttempts: 3,
    retryMode: 'standard',
  });
  return async ({ to, from, replyTo, subject, text, html, headers }, signal) => {
    const command = new SendEmailCommand({
      FromEmailAddress: from,
      Destination: { ToAddresses: [to] },
      ...(replyTo !== undefined && { ReplyToAddresses: [replyTo] }),
      ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
      Content: {
        Simple: {
          Subject: toContent(subject),
          Body: { Text: toContent(text), Html: toContent(html) },
          Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
        },
      },
    });
    const { MessageId } = await client.send(command, { abortSignal: signal });
    if (MessageId === undefined) {
      throw Object.assign(new Error('SES confirmed no mail.'), { name: 'UnconfirmedMail' });
    }
  };
}

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
