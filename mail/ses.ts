import { setTimeout as sleep } from 'node:timers/promises';
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import {
  AddressRejected,
  MailRejected,
  RateLimited,
  type Mail,
  type MailFile,
  type SendMail,
} from './send-mail.ts';
import type { MailerConfig } from './config.ts';

/** Milliseconds. They are long, because a mail with a late response is sent twice. */
const TIMEOUTS = {
  connectionTimeout: 1_000,
  requestTimeout: 8_000,
  throwOnRequestTimeout: true,
  socketTimeout: 8_000,
};

/** Milliseconds of the first wait when SES throttles, and of the longest. */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 4_000;

/** The SDK takes any 200 for success, even a proxy's. */
class UnconfirmedMail extends Error {
  override readonly name = 'UnconfirmedMail';
}

/**
 * Sends with SES, configured by the `AWS_*` environment. A throttled mail waits for a random time and is tried until
 * its signal aborts. A retry after a lost response sends a mail twice: SES has no idempotency token. Rejects with the
 * errors of {@link SendMail}, `UnconfirmedMail` for a success without MessageId, or the SDK's.
 */
export function createSendMail({
  inboxTo,
  configurationSet,
  teamConfigurationSet,
}: MailerConfig): SendMail {
  const isOfTeam = (address: string): boolean => domainOf(address) === domainOf(inboxTo);
  const client = new SESv2Client({ requestHandler: TIMEOUTS });
  return async (mail, signal) => {
    const set = isOfTeam(mail.to) ? teamConfigurationSet : undefined;
    const command = createCommand(mail, set ?? configurationSet);
    let refusal: RateLimited | undefined;
    for (let wait = SHORTEST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        const { MessageId } = await client.send(command, { abortSignal: signal });
        if (MessageId !== undefined) return;
        throw new UnconfirmedMail('SES confirmed no mail.');
      } catch (sdkError) {
        const error = toSendMailError(sdkError);
        // An attempt after the first was aborted.
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
 * SES v2 responds with `TooManyRequestsException` (github.com/pm-pmaas/etailors_amazon_ses/issues/117), by its guide
 * `ThrottlingException`, also for the daily quota
 * (docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html). An operator can verify an unverified identity.
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
  { to, from, replyTo, subject, text, html, headers, tags, files = [] }: Mail,
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
        ...(files.length > 0 && { Attachments: files.map(toAttachment) }),
      },
    },
  });

const domainOf = (address: string): string => address.replace(/.*@/, '').toLowerCase();

/** By default, SES would encode it for seven bits (API Reference, "Attachment"). */
const toAttachment = ({ name, type, data }: MailFile) => ({
  FileName: name,
  ContentType: type,
  RawContent: data,
  ContentDisposition: 'ATTACHMENT' as const,
  ContentTransferEncoding: 'BASE64' as const,
});

const toPairs = (values: Record<string, string>) =>
  Object.entries(values).map(([Name, Value]) => ({ Name, Value }));

const toContent = (Data: string) => ({ Data, Charset: 'UTF-8' });
