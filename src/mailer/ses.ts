import { setTimeout as sleep } from 'node:timers/promises';
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import {
  AddressRejected,
  MailRejected,
  RateLimited,
  type Mail,
  type SendMail,
} from './send-mail.ts';

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

class UnconfirmedMail extends Error {
  override readonly name = 'UnconfirmedMail';
}

/** When mails may start again, spread over how many milliseconds, and why they wait. */
interface Pace {
  resumeAt: number;
  spread: number;
  reason?: RateLimited;
}

/**
 * Creates the function that sends a mail with SES. Credentials and endpoint come from the `AWS_*` environment. An attempt ends
 * after 8 s without a response; three attempts at most, more only for the pace; the signal bounds the whole call.
 *
 * When SES throttles one mail, all wait, and then start spread over a time that doubles with each such round and halves
 * with each mail that SES takes. A mail that waits until its signal aborts rejects with what SES has answered.
 *
 * It rejects with the errors of {@link SendMail}, whose cause is the SDK's, with `UnconfirmedMail` when a success has no
 * MessageId, or with the SDK's error. When the response to an accepted mail is lost, the next attempt sends it again: SES
 * has no idempotency token. docs/adr/0080
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
  const pace: Pace = { resumeAt: 0, spread: 0 };
  return async (mail, signal) => {
    const command = createCommand(mail, configurationSet);
    let refusal: RateLimited | undefined;
    for (;;) {
      await waitFor(pace, signal);
      const start = Date.now();
      try {
        const { MessageId } = await client.send(command, { abortSignal: signal });
        pace.spread /= 2;
        if (MessageId !== undefined) return;
        throw new UnconfirmedMail('SES confirmed no mail.');
      } catch (sdkError) {
        const error = toSendMailError(sdkError);
        // The signal may abort while the SDK waits for an attempt of its own, since SES throttles this mail or another one.
        const isSlowed = start < pace.resumeAt;
        if (signal.aborted) throw refusal ?? (isSlowed ? pace.reason : error);
        if (!(error instanceof RateLimited)) throw error;
        refusal = error;
        pace.reason = error;
        // Once for all that were under way.
        if (isSlowed) continue;
        pace.spread = Math.min(Math.max(2 * pace.spread, SHORTEST_SPREAD), LONGEST_SPREAD);
        pace.resumeAt = Date.now() + pace.spread / 2;
      }
    }
  };
}

async function waitFor(pace: Pace, signal: AbortSignal): Promise<void> {
  const wait = pace.resumeAt - Date.now();
  if (wait <= 0) return;
  await sleep(wait + Math.random() * pace.spread, undefined, { signal }).catch(() => {
    throw pace.reason ?? signal.reason;
  });
}

/**
 * SES v2 answers 429 `TooManyRequestsException` with "Maximum sending rate exceeded."
 * (github.com/pm-pmaas/etailors_amazon_ses/issues/117); its guide calls the error `ThrottlingException`, which may also say
 * "Daily message quota exceeded" (docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html). It also rejects mails
 * while an identity is not verified, which an operator can change.
 */
function toSendMailError(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { name, message } = cause;
  if (/^(TooManyRequests|Throttling)(Exception)?$/.test(name) && !/daily/i.test(message)) {
    return new RateLimited('SES asks for a slower pace.', { cause });
  }
  if (name === 'BadRequestException') {
    return new AddressRejected('SES refuses an address.', { cause });
  }
  if (name === 'MessageRejected' && !message.includes('not verified')) {
    return new MailRejected('SES refuses the mail.', { cause });
  }
  return cause;
}

const createCommand = (
  { to, from, replyTo, subject, text, html, headers, tags }: Mail,
  configurationSet: string | undefined,
): SendEmailCommand =>
  new SendEmailCommand({
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

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
