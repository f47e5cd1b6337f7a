import type { SESReceipt } from 'aws-lambda';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import type { ReplyKind } from '../reply-addresses.ts';
import { createAcknowledgementMail, createReplyMail } from '../owner-mails.ts';
import { parseRow } from '../rows.ts';
import { createInquiryMail, DISMISSAL } from '../team-mails.ts';
import { toMailbox } from '../../text/mailbox.ts';
import type { ReceiverConfig } from './config.ts';
import { createAnsweredMail, type ForwardReason, type ReturnReason } from './mails.ts';
import { findNewText } from './new-text.ts';
import type { ReceivedMail } from './parse-mail.ts';
import type { SentMail } from './sent-mail.ts';

interface Known {
  mail: ReceivedMail;
  inquiry: StoredInquiry;
}

export type Decision =
  /** `reply` is undefined for a dismissal. `leftOut` are lines above the marker, and signatures. */
  | (Known & { act: 'answer'; from: string; reply: string | undefined; leftOut: string })
  | (Known & { act: 'return'; from: string; why: ReturnReason })
  | (Known & { act: 'store'; body: string })
  | { act: 'forward'; why: ForwardReason };

export type Verdicts = Pick<SESReceipt, 'dmarcVerdict' | 'spamVerdict' | 'virusVerdict'>;

/** Whether an address is one of `@example.com,boss@partner.example`. */
const isOfTeam = (from: string, team: string[]): boolean =>
  team.some((one) => (one.startsWith('@') ? from.endsWith(one) : from === one));

interface Recipient {
  kind: ReplyKind;
  address: string;
  /** Undefined if it no longer exists. */
  inquiry: StoredInquiry | undefined;
  before?: StoredInquiry | undefined;
}

function toSentMail(
  { kind, address: replyAddress, before }: Recipient,
  inquiry: StoredInquiry,
  config: ReceiverConfig,
): SentMail {
  const { created_at, reply_at = created_at, additions = [] } = inquiry;
  const mails =
    kind === 'f'
      ? [
          ...[inquiry.reply, ...additions.map(({ text }) => text)].map((reply) =>
            createReplyMail({ ...parseRow(inquiry), reply }, config, { replyAddress }),
          ),
          createAcknowledgementMail(parseRow(inquiry), config, { replyAddress }),
        ]
      : [
          createInquiryMail(inquiry, config, { replyAddress, before }),
          createAnsweredMail(inquiry, '', config, replyAddress),
        ];
  const [subject = ''] = mails.map((mail) => mail?.subject);
  return {
    senders: [config.inboxFrom, kind === 'f' ? (config.company.name ?? '') : ''],
    replyTo: replyAddress,
    subject,
    text: mails.flatMap((mail) => [mail?.subject, mail?.text]).join('\n'),
    times: [created_at, reply_at, ...additions.map(({ at }) => at)].map((time) => Date.parse(time)),
  };
}

const forward = (why: ForwardReason): Decision => ({ act: 'forward', why });

const isPassed = (verdicts: Verdicts, name: 'dmarc' | 'spam' | 'virus'): boolean =>
  verdicts[`${name}Verdict`].status === 'PASS';

/**
 * Decides what the event alone tells, so that no stranger's mail is read. A mail without DMARC is read if its address
 * is right, because the team gets its text.
 */
export const decideUnread = (verdicts: Verdicts, isAddressed: boolean): ForwardReason | undefined =>
  (['virus', 'spam'] as const).find((name) => !isPassed(verdicts, name)) ??
  (isAddressed ? undefined : 'address');

/**
 * @param to - Undefined if this stage has not made the address.
 * @param now - Milliseconds.
 */
export function decide(
  mail: ReceivedMail | undefined,
  verdicts: Verdicts,
  to: Recipient | undefined,
  config: ReceiverConfig,
  now: number,
): Decision {
  const { replyFrom, followUps } = config;
  const unread = decideUnread(verdicts, to !== undefined);
  if (unread !== undefined || to === undefined) return forward(unread ?? 'address');
  if (mail === undefined) return forward('unreadable');
  const { from, text, subject, isAutomatic } = mail;
  if (isAutomatic) return forward('automatic');
  if (!isPassed(verdicts, 'dmarc')) return forward('dmarc');
  const { kind, inquiry } = to;
  if (inquiry === undefined) return forward('gone');
  const known = { mail, inquiry };
  const owner = toMailbox(inquiry.email);
  const added = findNewText(text, toSentMail(to, inquiry, config), now);

  if (kind === 'f') {
    const isOwner = inquiry.email_verified === true && from === owner?.toLowerCase();
    if (!followUps || !isOwner) return forward(from === undefined ? 'senders' : 'sender');
    if (added.why !== undefined && added.whole === undefined) return forward(added.why);
    return { ...known, act: 'store', body: added.text ?? added.whole };
  }
  if (from === undefined) return forward('senders');
  if (!isOfTeam(from, replyFrom)) return forward('sender');
  const isBlank = added.why === 'empty' || added.why === 'quotation';
  if (subject.trim().toLowerCase() === DISMISSAL.toLowerCase()) {
    return isBlank
      ? { ...known, act: 'answer', from, reply: undefined, leftOut: '' }
      : { ...known, act: 'return', from, why: 'both' };
  }
  if (added.text === undefined) return { ...known, act: 'return', from, why: added.why };
  if (owner === undefined) return { ...known, act: 'return', from, why: 'no-address' };
  return { ...known, act: 'answer', from, reply: added.text, leftOut: added.leftOut };
}
