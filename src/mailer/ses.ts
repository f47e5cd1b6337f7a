import { setTimeout as sleep } from 'node:timers/promises';
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import {
  AddressRejected,
  MailRejected,
  RateLimited,
  type Mail,
  type SendMail,
} from './send-mail.ts';
import type { MailerConfig } from './config.ts';

/** Milliseconds. Long, since a mail whose response comes too late is sent twice. */
const TIMEOUTS = {
  connectionTimeout: 1_000,
  requestTimeout: 8_000,
  throwOnRequestTimeout: true,
  socketTimeout: 8_000,
};

/** Milliseconds that a mail waits when SES asks for a slower pace: at first, and after doublings. */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 4_000;

/** Any 200 is a success for the SDK, also one of a proxy. */
class UnconfirmedMail extends Error {
  override readonly name = 'UnconfirmedMail';
}

/**
 * Creates the function that sends a mail with SES, configured by the `AWS_*` environment. It makes three attempts; a mail that
 * SES throttles waits for a random time and is sent again until its signal aborts. When the response to an accepted mail
 * is lost, the next attempt sends it twice: SES has no idempotency token. docs/adr/0080
 *
 * It rejects with the errors of {@link SendMail}, `UnconfirmedMail` for a success without MessageId, or the SDK's.
 */
export function createSendMail({ configurationSet }: MailerConfig): SendMail {
  const client = new SESv2Client({ requestHandler: TIMEOUTS });
  return async (mail, signal) => {
    const command = createCommand(mail, configurationSet);
    let refusal: RateLimited | undefined;
    for (let wait = SHORTEST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        const { MessageId } = await client.send(command, { abortSignal: signal });
        if (MessageId !== undefined) return;
        throw new UnconfirmedMail('SES confirmed no mail.');
      } catch (sdkError) {
        const error = toSendMailError(sdkError);
        // Aborted in an attempt after the first.
        if (signal.aborted) throw refusal ?? error;
        if (!(error instanceof RateLimited)) throw error;
        refusal = error;
      }
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {
        throw refusal;
      });
    }
  };
}

/**
 * SES v2 answers `TooManyRequestsException` (github.com/pm-pmaas/etailors_amazon_ses/issues/117), in its guide
 * `ThrottlingException`, also for the daily quota (docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html). An
 * identity that is not verified is one that an operator can verify.
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
    EmailTags: toPairs(tags),
    Content: {
      Simple: {
        Subject: toContent(subject),
        Body: { Text: toContent(text), Html: toContent(html) },
        Headers: toPairs(headers),
      },
    },
  });

const toPairs = (values: Record<string, string>) =>
  Object.entries(values).map(([Name, Value]) => ({ Name, Value }));

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
