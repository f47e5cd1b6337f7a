import type { SESReceipt } from 'aws-lambda';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import type { ReplyKind } from '../reply-addresses.ts';
import { DISMISSAL } from '../team-mails.ts';
import { toMailbox } from '../../text/mailbox.ts';
import type { ReceiverConfig } from './config.ts';
import { findNewText } from './new-text.ts';
import { UNREAD } from './html-text.ts';
import type { PassReason, ReturnReason } from './mails.ts';
import type { ReceivedMail } from './parse-mail.ts';

/** A mail, and the inquiry that its address names. */
interface Known {
  mail: ReceivedMail;
  inquiry: StoredInquiry;
}

export type Decision =
  /** Without `reply`, a dismissal. */
  | (Known & { act: 'answer'; from: string; reply: string | undefined })
  /** To its writer, who is of the team. */
  | (Known & { act: 'return'; from: string; why: ReturnReason })
  | (Known & { act: 'store'; body: string })
  /** To the team. */
  | { act: 'pass'; why: PassReason };

export type Verdicts = Pick<SESReceipt, 'dmarcVerdict' | 'spamVerdict' | 'virusVerdict'>;

const VERDICTS = ['virus', 'spam', 'dmarc'] as const;

/** Whether an address is one of `@example.com,boss@partner.example`. */
const isOfTeam = (from: string, team: string[]): boolean =>
  team.some((one) => (one.startsWith('@') ? from.endsWith(one) : from === one));

const pass = (why: PassReason): Decision => ({ act: 'pass', why });

/** @param to - What the address stands for; undefined: nothing that this stage has made, or that still exists. */
export function decide(
  mail: ReceivedMail | undefined,
  verdicts: Verdicts,
  to: { kind: ReplyKind; inquiry: StoredInquiry | undefined } | undefined,
  { replyFrom, followUps, inboxFrom }: ReceiverConfig,
): Decision {
  if (mail === undefined) return pass('unreadable');
  const { from, text, subject, isAutomatic } = mail;
  if (isAutomatic) return pass('automatic');
  const failed = VERDICTS.find((one) => verdicts[`${one}Verdict`].status !== 'PASS');
  if (failed !== undefined) return pass(failed);
  if (to === undefined) return pass('address');
  const { kind, inquiry } = to;
  if (inquiry === undefined) return pass('gone');
  const known = { mail, inquiry };
  const owner = toMailbox(inquiry.email);
  const found = findNewText(text, inboxFrom.toLowerCase());
  const isRead = found.why !== undefined || !found.text.includes(UNREAD);
  const added = isRead ? found : ({ why: 'unreadable' } as const);

  if (kind === 'f') {
    const isOwner = inquiry.email_verified === true && from === owner?.toLowerCase();
    if (!followUps || !isOwner) return pass(from === undefined ? 'senders' : 'sender');
    return added.why === undefined ? { ...known, act: 'store', body: added.text } : pass(added.why);
  }
  if (from === undefined) return pass('senders');
  if (!isOfTeam(from, replyFrom)) return pass('sender');
  const isBlank = added.why === 'empty' || added.why === 'quotation';
  if (subject.trim().toLowerCase() === DISMISSAL.toLowerCase()) {
    return isBlank
      ? { ...known, act: 'answer', from, reply: undefined }
      : { ...known, act: 'return', from, why: 'both' };
  }
  if (added.why !== undefined) return { ...known, act: 'return', from, why: added.why };
  if (owner === undefined) return { ...known, act: 'return', from, why: 'no-address' };
  return { ...known, act: 'answer', from, reply: added.text };
}
