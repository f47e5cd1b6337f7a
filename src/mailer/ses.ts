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
 * Creates the function that sends a mail with SES. Credentials and endpoint come from the `AWS_*` environment. An
 * attempt ends after 8 s without a response; three attempts at most, more only for the pace; the signal bounds the
 * whole call.
 *
 * The SDK's adaptive retry mode limits the rate of all mails together when SES throttles one of them, and raises it
 * again. A mail that this keeps waiting until its signal aborts rejects with an error of the pace ({@link isPace}).
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
    retryMode: 'adaptive',
  });
  /** The last answer of SES, also one after which the SDK tries again, if that was too fast. */
  let throttled: unknown;
  client.middlewareStack.add(
    (next) => async (args) =>
      next(args).then(
        (result) => {
          throttled = undefined;
          return result;
        },
        (error: unknown) => {
          throttled = isPace(error) ? error : undefined;
          throw error;
        },
      ),
    // Within the SDK's retries.
    { step: 'finalizeRequest', priority: 'low' },
  );
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
    // The SDK does not look at the signal while it waits for its turn.
    signal.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      const error = Object.assign(new Error('There is no time left.'), { name: 'TimeoutError' });
      signal.addEventListener('abort', () => reject(error));
    });
    for (;;) {
      try {
        const { MessageId } = await Promise.race([client.send(command, { abortSignal: signal }), aborted]);
        if (MessageId !== undefined) return;
        throw Object.assign(new Error('SES confirmed no mail.'), { name: 'UnconfirmedMail' });
      } catch (error) {
        if (signal.aborted) throw throttled ?? error;
        if (!isPace(error)) throw error;
      }
    }
  };
}

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
