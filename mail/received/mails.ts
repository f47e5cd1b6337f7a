/** Creates mails about received mails, to the team or back to their writers. */
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { toReference } from '../../src/limits.ts';
import type { MailerConfig } from '../config.ts';
import {
  formatFacts,
  formatHeading,
  formatMessage,
  formatParagraph,
  type Block,
} from '../blocks.ts';
import type { Mail, MailFile } from '../send-mail.ts';
import {
  createTeamMail,
  DISMISSAL,
  formatAnswer,
  formatSender,
  formatSubject,
  formatText,
  formatTitle,
  formatTitled,
  MARKER,
} from '../team-mails.ts';
import { formatTime } from '../texts.ts';
import { escapeText, toOneLine } from '../../text/visible.ts';
import type { ReceivedMail } from './parse-mail.ts';

const NAMES_LIMIT = 1_000;

export const LEFT_OUT = 'Left out:';
export const YOU_WROTE = 'You wrote:';

const RETURNED = {
  empty: 'It has no text that can be read.',
  unreadable: 'A part of it is too long, or in characters that cannot be read. Write it anew.',
  quotation: `It has no text above the line “${MARKER}”.`,
  below: `A part of it is between the lines of the quotation. Write all of it above the line “${MARKER}”.`,
  unclear: `It is not certain where its text ends. Reply to this mail, with all of your text above the line “${MARKER}”, or without a quotation.`,
  'too-long': 'It is too long.',
  both: `Its subject is “${DISMISSAL}”, but it has a text, too. Send one or the other.`,
  'no-address': 'No mail can be sent to the user. Answer by another channel.',
  answered: 'There is an answer already.',
  attachments: '',
} as const;
export type ReturnReason = keyof typeof RETURNED;

const FORWARDED = {
  unreadable: 'it cannot be read',
  automatic: 'it was sent automatically',
  virus: 'it may have a virus',
  spam: 'it may be spam',
  dmarc: 'its sender cannot be verified (DMARC)',
  address: 'its address is not one of this service’s, or no longer',
  gone: 'the inquiry was erased or has expired',
  senders: 'it does not say one address that it is from',
  sender: 'its sender is not one who may write to this address',
  empty: 'it has no text that can be read',
  quotation: 'it has no text but the quotation',
  refused: 'the user has reached a limit',
  repeated: 'its writer was told why, and has sent another one',
} as const;
export type ForwardReason = keyof typeof FORWARDED;

function formatAttachments(files: { name: string }[]): Block | undefined {
  const names = files.map(({ name }) => name).join(', ');
  return names === ''
    ? undefined
    : formatFacts([['Attachments', toOneLine(names, NAMES_LIMIT, escapeText)]]);
}

const inFull = (settings: MailerConfig): MailerConfig => ({ ...settings, linksOnly: false });

export function createAnsweredMail(
  inquiry: StoredInquiry,
  leftOut: string,
  settings: MailerConfig,
  replyAddress: string,
): Mail {
  const blocks = [
    formatAnswer(inquiry),
    leftOut === '' ? undefined : formatTitled(LEFT_OUT, formatText(leftOut)),
  ];
  const title = formatTitle(inquiry, settings);
  return createTeamMail('notice', settings, title, blocks, inquiry, { replyAddress });
}

/** Brings the team what an owner has attached to a follow-up. */
export function createFilesMail(
  inquiry: Pick<StoredInquiry, 'id' | 'email' | 'subject' | 'follows'>,
  files: MailFile[],
  settings: MailerConfig,
  replyAddress: string | undefined,
): Mail {
  const { id, email } = inquiry;
  const title = `${formatSender(email)} has sent files with ${toReference(id)}:`;
  const blocks = [formatTitled(title, formatMessage(files.map(({ name }) => name).join('\n')))];
  const subject = formatSubject(inquiry.subject);
  const mail = createTeamMail('notice', settings, subject, blocks, inquiry, { replyAddress });
  return { ...mail, files };
}

export function createReturnedMail(
  { text, attachments }: Pick<ReceivedMail, 'text'> & { attachments: { name: string }[] },
  to: string,
  why: ReturnReason,
  inquiry: StoredInquiry,
  settings: MailerConfig,
  replyAddress: string,
): Mail {
  const was = why === 'attachments' ? 'sent without these attachments' : 'not sent';
  const title = `Your answer to ${toReference(inquiry.id)} was ${was}`;
  const time = formatTime(inquiry.reply_at ?? 0, 'en-GB', settings.timeZone);
  const blocks = [
    formatParagraph(`${title}. ${RETURNED[why]}`.trim()),
    formatAttachments(attachments),
    ...(why === 'answered' ? [formatFacts([['Answered', time]]), formatAnswer(inquiry)] : []),
    formatTitled(YOU_WROTE, formatText(text)),
  ];
  const changes = { to, replyAddress };
  return createTeamMail('notice', inFull(settings), title, blocks, inquiry, changes);
}

export function createForwardedMail(
  { from = 'unknown', subject, text, attachments }: Omit<ReceivedMail, 'isAutomatic' | 'messageId'>,
  why: ForwardReason,
  inquiry: StoredInquiry | undefined,
  settings: MailerConfig,
): Mail {
  const about = inquiry === undefined ? '' : ` about ${toReference(inquiry.id)}`;
  const title = `A mail${about} was not taken: ${FORWARDED[why]}`;
  const sender = formatFacts([['From', formatSender(from)]]);
  // The quotation would bring back what was erased.
  const isErased = why === 'gone';
  const blocks = [
    formatParagraph(`${title}.`),
    isErased
      ? sender
      : formatTitled('The mail:', formatHeading(formatSubject(subject)), formatText(text), sender),
    isErased ? undefined : formatAttachments(attachments),
  ];
  return createTeamMail('notice', inFull(settings), title, blocks, inquiry);
}
