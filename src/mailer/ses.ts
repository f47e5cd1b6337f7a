import { setTimeout as sleep } from 'node:timers/promises';
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

/** Milliseconds. Ten mails that start in 4 s are not much more than the slowest account may send, one a second. */
const LONGEST_SPREAD = 4_000;
const SHORTEST_SPREAD = LONGEST_SPREAD / 8;

/**
 * Whether SES takes the mail as soon as fewer are sent. SES v2 answers 429 `TooManyRequestsException` with "Maximum
 * sending rate exceeded." (github.com/pm-pmaas/etailors_amazon_ses/issues/117); its guide calls the error
 * `ThrottlingException`, which may also say "Daily message quota exceeded"
 * (docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html).
 */
export const isPace = (error: unknown): boolean =>
  error instanceof Error &&
  /^(TooManyRequests|Throttling)(Exception)?$/.test(error.name) &&
  !/daily/i.test(error.message);

/**
 * Creates the function that sends a mail with SES. Credentials and endpoint come from the `AWS_*` environment. An attempt ends
 * after 8 s without a response; three attempts at most, more only for the pace; the signal bounds the whole call.
 *
 * When SES throttles one mail, all wait, and then start spread over a time that doubles with each such round and halves
 * with each mail that SES takes. A mail that waits until its signal aborts rejects with what SES has answered.
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
  /** When mails may start again, spread over how many milliseconds, and why they wait. */
  let [resumeAt, spread, reason]: [number, number, unknown] = [0, 0, undefined];
  return async ({ to, from, replyTo, subject, text, html, headers, tags }, signal) => {
    const command = new SendEmailCommand({
      FromEmailAddress: from,
      Destination: { ToAddresses: [to] },
      ...(replyTo !== undefined && { ReplyToAddresses: [replyTo] }),
      ...(configurationSet !== undefined && { ConfigurationSetName: configurationSet }),
      EmailTags: Object.entries(tags).map(([Name, Value]) => ({ Name, Value })),
      Content: {
        Simple: {
          Subject: toContent(subject),
          Body: { Text: toContent(text), Html: toContent(html) },
          Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
        },
      },
    });
    let refusal: unknown;
    for (;;) {
      const wait = resumeAt - Date.now();
      if (wait > 0) {
        await sleep(wait + Math.random() * spread, undefined, { signal }).catch(() => {
          throw reason;
        });
      }
      const start = Date.now();
      try {
        const { MessageId } = await client.send(command, { abortSignal: signal });
        spread /= 2;
        if (MessageId !== undefined) return;
        throw Object.assign(new Error('SES confirmed no mail.'), { name: 'UnconfirmedMail' });
      } catch (error) {
        // The signal may abort while the SDK waits for an attempt of its own.
        if (signal.aborted) throw refusal ?? error;
        if (!isPace(error)) throw error;
        reason = refusal = error;
        // Once for all that were under way.
        if (start < resumeAt) continue;
        spread = Math.min(Math.max(2 * spread, SHORTEST_SPREAD), LONGEST_SPREAD);
        resumeAt = Date.now() + spread / 2;
      }
    }
  };
}

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
