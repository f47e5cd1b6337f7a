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

/** Milliseconds. Longer than those of the database: a mail whose response comes too late is sent a second time. */
const TIMEOUTS = {
  connectionTimeout: 1_000,
  requestTimeout: 8_000,
  throwOnRequestTimeout: true,
  socketTimeout: 8_000,
};

/**
 * Milliseconds that a mail waits, at most, when SES first asks for a slower pace; then twice as long each time, up to
 * the second.
 */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 4_000;

/** Any 200 is a success for the SDK, also one of a proxy. Appears in the log by its name. */
class UnconfirmedMail extends Error {
  override readonly name = 'UnconfirmedMail';
}

/**
 * Creates the function that sends a mail with SES. Region, credentials and endpoint come from the `AWS_*` environment.
 * An attempt ends after 8 s without a response; three attempts at most, more only for the pace; the signal bounds the
 * whole call. A mail that SES throttles waits for a random time and is tried again until its signal aborts; then it
 * rejects with what SES has answered.
 *
 * It rejects with the errors of {@link SendMail}, whose cause is the SDK's, with `UnconfirmedMail` when a success has
 * no MessageId, or with the SDK's error. When the response to an accepted mail is lost, the next attempt sends it again: SES has no idempotency token. docs/adr/0080
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
