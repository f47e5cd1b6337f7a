/**
 * Builds the mails to the team. Pure functions; src/mailer/ses.ts sends.
 *
 * The text of a user is in HTML beside a border that it cannot leave, and in plain text behind a mark on every line. So it
 * cannot imitate the mail's own words.
 */
import { timeOf, type Inquiry } from '../contract.ts';
import { showAddress } from '../invisible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../languages.ts';
import { toReference } from '../limits.ts';
import { toMailbox } from '../mailbox.ts';
import type { Bounce } from './bounces.ts';
import type { MailerConfig } from './config.ts';
import {
  createPage,
  formatBlock,
  formatFacts,
  formatHeading,
  formatMarkedLines,
  formatNote,
  formatNoteText,
  formatParagraph,
  formatQuietLine,
  formatQuote,
  threadHeaders,
  type Note,
} from './parts.ts';
import type { MailedInquiry } from './rows.ts';
import type { Mail } from './send-mail.ts';
import { cut, toOneLine, toPlainLine, toVisible } from './text.ts';

export type TeamSettings = Pick<
  MailerConfig,
  'stage' | 'inboxTo' | 'inboxFrom' | 'mailsPerHour' | 'totalMailsPerHour' | 'timeZone'
>;

/** UTF-16 units. */
const SUBJECT_LIMIT = 150;
const HEADING_LIMIT = 1_000;
const BODY_LIMIT = 100_000;
const QUOTE_LIMIT = 20_000;
const ADDRESS_LIMIT = 320;
const DIAGNOSTICS_LIMIT = 500;

const MARK = '| ';

/**
 * A new inquiry, for the team. Reply-To is the owner if a mail can be sent there; the text says what to do otherwise. A
 * long text is cut, and says how to read the rest.
 *
 * @param withReplyTo - False: as if the owner's address could not be used.
 */
export function createInquiryMail(
  inquiry: Inquiry,
  settings: TeamSettings,
  withReplyTo = true,
): Mail {
  const { id, email } = inquiry;
  const heading = toPlainLine(inquiry.subject, HEADING_LIMIT) || NO_SUBJECT.en;
  const subject = toOneLine(heading, SUBJECT_LIMIT);
  const isCut = inquiry.body.length > BODY_LIMIT || inquiry.subject.length > HEADING_LIMIT;
  const body = `${cutBody(inquiry.body, BODY_LIMIT)}${isCut ? '\n…' : ''}`;
  const replyTo = withReplyTo ? toMailbox(email) : undefined;
  const facts = { From: formatSender(email), at: formatTime(id, settings), ...referenceTo(id) };
  const dismiss = formatCommand(settings, `dismiss ${id}`);
  const notes: Note[] = [];
  if (isCut) {
    const length = inquiry.body.length.toLocaleString('en');
    notes.push([
      `The text above is cut; all of it has ${length} characters. To read it, run:`,
      formatCommand(settings, `show ${id}`),
    ]);
  }
  if (replyTo === undefined) {
    notes.push([
      'No mail can be sent to the address of the sender, so a reply to this mail does not arrive there. When the inquiry needs no answer, run:',
      dismiss,
    ]);
  } else {
    notes.push(
      ['To answer, reply to this mail or run:', formatCommand(settings, `reply ${id}`)],
      ['After an answer by mail, take the inquiry off the list of unanswered ones:', dismiss],
    );
  }
  // The header has it; only what is cut there is said again.
  const isLong = subject !== heading;
  return {
    ...toTeam(subject, 'inquiry', settings, id),
    ...(replyTo !== undefined && { replyTo }),
    text: [
      formatMarkedLines(isLong ? `${heading}\n\n${body}` : body, MARK),
      `\n${formatFacts(facts)}\n`,
      ...notes.map(formatNoteText),
    ].join('\n'),
    html: createPage(
      heading,
      [
        formatQuote(`${isLong ? formatHeading(heading) : ''}${formatBlock(body)}`),
        formatQuietLine(facts),
        ...notes.map(formatNote),
      ].join('\n'),
    ),
  };
}

/** What became of a mail that is not with its recipient. */
export type Failure = Pick<Bounce, 'mail' | 'address'> &
  Partial<Pick<Bounce, 'cause' | 'diagnostics'>> & { readonly why: keyof typeof NOTICE_TEXTS };

const OTHERWISE = 'Answer by another channel, or ask for another address.';
const NOTICE_TEXTS = {
  refused: {
    what: 'could not be sent',
    advice: `SES refuses it, and it is not tried again. ${OTHERWISE}`,
  },
  'no-address': {
    what: 'was not sent',
    advice: `No mail can be sent to this address. ${OTHERWISE}`,
  },
  late: { what: 'could not be sent for an hour', advice: 'It is tried for 24 hours.' },
  bounce: { what: 'could not be delivered', advice: OTHERWISE },
  maybe: {
    what: 'may not have arrived',
    advice: 'What the recipient’s server sent can also be an automatic reply.',
  },
  complaint: {
    what: 'was reported as spam',
    advice: `SES sends no more mails to this address. ${OTHERWISE}`,
  },
} as const;

/** SES's subtypes of bounces (docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types). */
const CAUSES: Readonly<Record<string, string>> = {
  NoEmail: 'The address does not exist.',
  Suppressed: 'Mails to this address came back before, so SES does not send to it.',
  OnAccountSuppressionList: 'Mails to this address came back before, so SES does not send to it.',
  MailboxFull: 'The mailbox is full.',
  MessageTooLarge: 'The mail is too large for the recipient’s server.',
  ContentRejected: 'The recipient’s server refuses what the mail says.',
  AttachmentRejected: 'The recipient’s server refuses what the mail says.',
};

/** Says that a mail is not with its recipient, why, what to do, and what the mail was about, for the team. */
export function createNoticeMail(
  { mail, address, why, cause = '', diagnostics = '' }: Failure,
  settings: TeamSettings,
  inquiry?: MailedInquiry,
): Mail {
  const { what, advice } = NOTICE_TEXTS[why];
  const id = inquiry?.id ?? '';
  const name = mail && `The ${mail} to ${toReference(id)}`;
  const subject = `${name ?? 'A mail of the user pool'} ${what}`;
  const sentence = [`${subject}.`, CAUSES[cause], mail && advice].filter(Boolean).join(' ');
  const facts = { To: formatSender(address), ...(inquiry && referenceTo(id)) };
  const said = toPlainLine(diagnostics, DIAGNOSTICS_LIMIT);
  const quotes = [
    ['The recipient’s server said:', said],
    ['The reply:', mail === 'reply' && inquiry?.reply ? cutBody(inquiry.reply, QUOTE_LIMIT) : ''],
    [
      'The inquiry:',
      inquiry
        ? `${toPlainLine(inquiry.subject, SUBJECT_LIMIT) || NO_SUBJECT.en}\n\n${cutBody(inquiry.body, QUOTE_LIMIT)}`
        : '',
    ],
  ].filter((quote): quote is [string, string] => quote[1] !== '');
  return {
    ...toTeam(subject, 'notice', settings, inquiry?.id),
    text: [
      sentence,
      formatFacts(facts),
      ...quotes.map(([title, text]) => `${title}\n${formatMarkedLines(text, MARK)}`),
    ].join('\n\n'),
    html: createPage(
      subject,
      [
        formatParagraph(sentence),
        formatQuietLine(facts),
        ...quotes.flatMap(([title, text]) => [
          formatParagraph(title),
          formatQuote(formatBlock(text)),
        ]),
      ].join('\n'),
    ),
  };
}

/** What a mail about several inquiries says of one of them. */
export type ListedInquiry = Pick<Inquiry, 'id' | 'email' | 'subject'>;

/**
 * The inquiries that are not mailed one by one, for the team.
 *
 * @param since - The time in milliseconds of the first one, or before it.
 * @param named - The newest ones, newest first.
 */
export function createDigestMail(
  { count, since, named }: { count: number; since: number; named: readonly ListedInquiry[] },
  settings: TeamSettings,
): Mail {
  const { totalMailsPerHour: total, mailsPerHour, timeZone } = settings;
  const time = new Date(since).toLocaleTimeString('en-GB', {
    timeZone,
    timeZoneName: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  const subject = `${countInquiries(count)} since ${time}`;
  const reason = `The mails of an hour were used up (${total.toLocaleString('en')}, ${mailsPerHour.toLocaleString('en')} about one sender), or these could not be sent.`;
  const note: Note = [
    'To list those that are unanswered, run:',
    formatCommand(settings, `list --since ${new Date(since).toISOString().slice(0, 19)}Z`),
  ];
  const sentence = `${subject} had no mail of their own. ${reason}`;
  return createListMail(
    'digest',
    { subject, sentence, note, named, title: `The newest ${named.length}:` },
    settings,
  );
}

/**
 * The inquiries that have waited too long for an answer, for the team.
 *
 * @param named - The oldest ones, oldest first.
 */
export function createDailyMail(
  { count, days, named }: { count: number; days: number; named: readonly ListedInquiry[] },
  settings: TeamSettings,
): Mail {
  const age = days === 1 ? '1 day' : `${days} days`;
  const note: Note = [
    'To read one and answer it, or to take it off this list, run:',
    formatCommand(settings, 'show REFERENCE, reply REFERENCE or dismiss REFERENCE'),
  ];
  const subject = `${countInquiries(count)} unanswered for more than ${age}`;
  const sentence = `${countInquiries(count)} ${count === 1 ? 'has' : 'have'} waited for an answer for more than ${age}.`;
  return createListMail(
    'daily',
    { subject, sentence, note, named, title: `The oldest ${named.length}:` },
    settings,
  );
}

function createListMail(
  name: 'digest' | 'daily',
  {
    subject,
    sentence,
    note,
    title,
    named,
  }: {
    subject: string;
    sentence: string;
    note: Note;
    title: string;
    named: readonly ListedInquiry[];
  },
  settings: TeamSettings,
): Mail {
  const rows = named.map(({ id, email, subject: text }) => ({
    heading: toPlainLine(text, SUBJECT_LIMIT) || NO_SUBJECT.en,
    facts: { ...referenceTo(id), at: formatTime(id, settings) },
    sender: { From: formatSender(email) },
  }));
  return {
    ...toTeam(subject, name, settings),
    text: [
      `${sentence}\n`,
      formatNoteText(note),
      `${title}\n`,
      ...rows.map(({ heading, facts, sender }) => {
        const lines = [heading, formatFacts(facts), formatFacts(sender)];
        return `${formatMarkedLines(lines.join('\n'), MARK)}\n`;
      }),
    ].join('\n'),
    html: createPage(
      subject,
      [
        formatParagraph(sentence),
        formatNote(note),
        formatParagraph(title),
        ...rows.map(({ heading, facts, sender }) =>
          formatQuote(`${formatHeading(heading)}${formatQuietLine({ ...facts, ...sender })}`),
        ),
      ].join('\n'),
    ),
  };
}

const countInquiries = (count: number): string =>
  count === 1 ? '1 inquiry' : `${count.toLocaleString('en')} inquiries`;

/** The time of an inquiry in the team's time zone. */
const formatTime = (id: string, { timeZone }: TeamSettings): string =>
  new Date(timeOf(id)).toLocaleString('en-GB', {
    timeZone,
    timeZoneName: 'short',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });

const formatSender = (email: string): string =>
  toOneLine(showAddress(email.slice(0, ADDRESS_LIMIT + 1)), ADDRESS_LIMIT);

const referenceTo = (id: string) => ({ Reference: toReference(id) });

/** The beginning of a text of several lines, in which nothing is invisible. */
const cutBody = (text: string, limit: number): string =>
  text.trim() === '' ? NO_MESSAGE : toVisible(cut(text, limit));

/** What all mails to the team have. `Auto-Submitted` keeps automatic replies away (RFC 3834). */
const toTeam = (subject: string, kind: string, settings: TeamSettings, id?: string) => ({
  to: settings.inboxTo,
  from: settings.inboxFrom,
  subject: `[inquiries ${settings.stage}] ${subject}`,
  headers: { ...threadHeaders(id ?? kind, settings.inboxFrom), 'Auto-Submitted': 'auto-generated' },
  tags: { ...(id !== undefined && { inquiry: id }), mail: kind },
});

const formatCommand = ({ stage }: TeamSettings, verb: string): string =>
  `npm run inbox -- ${stage === 'local' ? '' : `--stage ${stage} `}${verb}`;
