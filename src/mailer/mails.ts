/**
 * Builds the mails. Pure functions; src/mailer/ses.ts sends.
 *
 * In a mail to the team, the text of a user comes first: in HTML beside a border that it cannot leave, in plain text with
 * a mark before every line. So it cannot imitate the mail's own words. No link of the HTML parts comes from a user.
 */
import { timeOf, type Inquiry } from '../contract.ts';
import { showAddress, showInvisible } from '../invisible.ts';
import type { MailerConfig } from './config.ts';
import { textsIn } from './languages.ts';
import { inLanguage, type Language } from '../languages.ts';
import { toReference } from '../limits.ts';
import { toMailbox } from '../mailbox.ts';
import {
  BREAK,
  toBlock,
  toHeading,
  toLinks,
  toMarkedLines,
  toNote,
  toNoteText,
  toPage,
  type Note,
} from './parts.ts';
import { toIsolated, toParagraph, toQuietLine, toQuote } from './parts.ts';
import { cut, toOneLine, toVisible } from './text.ts';

export interface Mail {
  readonly to: string;
  /** An address, or a name and an address (RFC 5322). Printable ASCII. */
  readonly from: string;
  readonly replyTo?: string;
  /** At most 250 UTF-16 units, without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Printable ASCII. */
  readonly headers: Readonly<Record<string, string>>;
  /** What SES reports with a bounce: letters, digits, `-` and `_`. */
  readonly tags: Readonly<Record<string, string>>;
}

/** An inquiry, with the language in which it was written if that is known. */
export type MailedInquiry = Inquiry & { readonly language?: Language | undefined };

type Settings = Pick<
  MailerConfig,
  'stage' | 'inboxTo' | 'inboxFrom' | 'mailsPerHour' | 'totalMailsPerHour' | 'language' | 'company'
>;

/** UTF-16 units. */
const SUBJECT_LIMIT = 150;
const HEADING_LIMIT = 1_000;
const BODY_LIMIT = 100_000;
const QUOTE_LIMIT = 20_000;
const ADDRESS_LIMIT = 320;
const REASON_LIMIT = 500;

const MARK = '| ';

/**
 * A new inquiry, for the team. Reply-To is the owner if SES takes the address; the text says what to do otherwise. A
 * long text is cut, and says how to read the rest.
 *
 * @param withReplyTo - False: as if the owner's address could not be used.
 */
export function toInquiryMail(inquiry: Inquiry, settings: Settings, withReplyTo = true): Mail {
  const { id, email } = inquiry;
  const whole = {
    heading: showInvisible(toVisible(inquiry.subject)),
    body: toVisible(inquiry.body),
  };
  const heading = toOneLine(whole.heading, HEADING_LIMIT) || '(no subject)';
  const subject = toOneLine(heading, SUBJECT_LIMIT);
  const isCut = whole.body.length > BODY_LIMIT || whole.heading.length > HEADING_LIMIT;
  const body = (cut(whole.body, BODY_LIMIT) || '(no text)') + (isCut ? '\n…' : '');
  const replyTo = withReplyTo ? toMailbox(email) : undefined;
  const facts = { From: showSender(email), at: toTime(id), Reference: toReference(id) };
  const dismiss = toCommand(settings, `dismiss ${id}`);
  const notes: Note[] = [];
  if (isCut) {
    const length = inquiry.body.length.toLocaleString('en');
    notes.push([
      `The text above is cut; all of it has ${length} characters. To read it, run:`,
      toCommand(settings, `show ${id}`),
    ]);
  }
  if (replyTo === undefined) {
    notes.push([
      'No mail can be sent to the address of the sender, so a reply to this mail does not arrive there. When the inquiry needs no answer, run:',
      dismiss,
    ]);
  } else {
    notes.push(
      ['To answer, reply to this mail or run:', toCommand(settings, `reply ${id}`)],
      ['After an answer by mail, take the inquiry off the list of unanswered ones:', dismiss],
    );
  }
  // The header has it; only what is cut there is said again.
  const isLong = subject !== heading;
  return {
    ...toTeam(subject, 'inquiry', settings, id),
    ...(replyTo !== undefined && { replyTo }),
    text: [
      toMarkedLines(isLong ? `${heading}\n\n${body}` : body, MARK),
      `\n${toFactLine(facts)}\n`,
      ...notes.map(toNoteText),
    ].join('\n'),
    html: toPage(
      heading,
      [
        toQuote(`${isLong ? toHeading(heading) : ''}${toBlock(body)}`),
        toQuietLine(facts),
        ...notes.map(toNote),
      ].join('\n'),
    ),
  };
}

/**
 * The answer to an inquiry, for its owner, in the language of the inquiry or of the stage. The reply is never cut: the
 * owner has no other way to read it. The original follows, quoted, and is cut when it is long.
 *
 * @returns undefined when no mail can be sent to the owner's address.
 */
export function toReplyMail(
  inquiry: MailedInquiry,
  reply: string,
  settings: Settings,
): Mail | undefined {
  const { language = settings.language } = inquiry;
  const subject = toOneLine(inquiry.subject.replace(REPLY_PREFIXES, ''), SUBJECT_LIMIT);
  const title = `Re: ${subject || textsIn(language).say('noSubject')}`;
  return toOwner(inquiry, { kind: 'reply', title, message: toVisible(reply) }, settings);
}

/** `Re:` of mail programs in several languages, also `Re[2]:`. */
const REPLY_PREFIXES = /^(?:\s*(?:re|aw|antw|sv|rif|r|رد|回复|回覆)(?:\[\d+\])?\s*[:：])+\s*/i;

/**
 * Says that an inquiry has arrived, for its owner, as {@link toReplyMail}. Programs that answer mails themselves know by
 * its `Auto-Submitted` that nobody wrote it (RFC 3834).
 */
export function toAcknowledgementMail(
  inquiry: MailedInquiry,
  settings: Settings,
): Mail | undefined {
  const { language = settings.language } = inquiry;
  const received = textsIn(language).say('received');
  const subject = toOneLine(inquiry.subject, SUBJECT_LIMIT);
  const title = subject === '' ? received : `${received}: ${subject}`;
  const expectation = inLanguage(settings.company.expectation ?? '', language);
  const message = [`${received}${language === 'ja' ? '。' : '.'}`, expectation]
    .filter(Boolean)
    .join('\n');
  const mail = toOwner(inquiry, { kind: 'acknowledgement', title, message }, settings);
  return mail && { ...mail, headers: { ...mail.headers, 'Auto-Submitted': 'auto-replied' } };
}

function toOwner(
  inquiry: MailedInquiry,
  { kind, title, message }: { kind: 'reply' | 'acknowledgement'; title: string; message: string },
  settings: Settings,
): Mail | undefined {
  const to = toMailbox(inquiry.email);
  if (to === undefined) return undefined;
  const { id, language = settings.language } = inquiry;
  const { name = '', accent, home, privacy, imprint } = settings.company;
  const { say, youWrote, direction } = textsIn(language);
  const original = toVisible(inquiry.body);
  const quoted = cut(original, QUOTE_LIMIT) + (original.length > QUOTE_LIMIT ? '\n[…]' : '');
  const introduction = youWrote(timeOf(id));
  const named = {
    [URL.parse(home ?? '')?.host ?? '']: home,
    [say('privacy')]: privacy,
    [say('imprint')]: imprint,
  };
  const links = Object.entries(named).filter(
    (link): link is [string, string] => link[1] !== undefined,
  );
  const facts = { [say('reference')]: toReference(id) };
  const content = [
    toBlock(message),
    toQuietLine(facts),
    toParagraph(introduction),
    toQuote(toBlock(quoted), direction),
    toLinks(name, links),
  ];
  return {
    to,
    from: toSender(name, settings.inboxFrom),
    replyTo: settings.inboxTo,
    subject: title,
    text: [
      message,
      `\n${toFactLine(facts)}\n`,
      `${introduction}\n`,
      ...quoted.split('\n').map((line) => `> ${line}`.trimEnd()),
      ...(name === '' && links.length === 0 ? [] : ['', ...[name].filter(Boolean)]),
      ...links.map(([label, url]) => (url === home ? url : `${label}: ${url}`)),
    ].join('\n'),
    html: toPage(title, content.join('\n'), { language, direction, accent }),
    headers: toHeaders(id, settings),
    tags: { inquiry: id, mail: kind },
  };
}

/** Units of an encoded word: 75 characters with its frame (RFC 2047, 2), in base64. */
const WORD_BYTES = 45;

/** A name and an address for `From`: the name quoted (RFC 5322, 3.2.4), or encoded if it is not ASCII (RFC 2047). */
export function toSender(name: string, address: string): string {
  const line = toOneLine(name, SUBJECT_LIMIT);
  if (line === '') return address;
  if (/^[ -~]*$/.test(line)) return `"${line.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>`;
  const words = [''];
  for (const character of line) {
    const word = `${words.at(-1)}${character}`;
    if (Buffer.byteLength(word) <= WORD_BYTES) words[words.length - 1] = word;
    else words.push(character);
  }
  return `${words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')} <${address}>`;
}

/** What became of a mail that is not with its recipient. */
export interface Failure {
  /** Undefined: the mail is not one of the mailer's, but of the user pool. */
  readonly mail: 'reply' | 'acknowledgement' | undefined;
  readonly address: string;
  readonly why: keyof typeof FATES;
  /** As SES or the recipient's server says it; may be empty. */
  readonly reason: string;
}

const OTHERWISE = 'Answer by another channel, or ask for another address.';
const FATES = {
  refused: ['could not be sent', `SES refuses it, and it is not tried again. ${OTHERWISE}`],
  'no-address': ['was not sent', `No mail can be sent to this address. ${OTHERWISE}`],
  late: ['could not be sent for an hour', 'It is tried for 24 hours.'],
  bounce: ['could not be delivered', OTHERWISE],
  maybe: [
    'may not have arrived',
    'What its recipient’s server sent can also be an automatic reply.',
  ],
  complaint: ['was reported as spam', `SES sends no more mails to this address. ${OTHERWISE}`],
} as const;

/** Says that a mail is not with its recipient, and what to do, for the team. */
export function toNoticeMail(
  { mail, address, why, reason }: Failure,
  settings: Settings,
  id = '',
): Mail {
  const [fate, advice] = FATES[why];
  const subject = `${mail ? `The ${mail} to ${toReference(id)}` : 'A mail of the user pool'} ${fate}`;
  const facts = { To: showSender(address), ...(mail && { Reference: toReference(id) }) };
  const said = toOneLine(showInvisible(toVisible(reason)), REASON_LIMIT) || why;
  const note = mail && (['To read the inquiry, run:', toCommand(settings, `show ${id}`)] as const);
  const lines = [`${subject}. ${mail ? advice : ''}`, toMarkedLines(said, MARK), toFactLine(facts)];
  const content = [toParagraph(lines[0] ?? ''), toQuote(toBlock(said)), toQuietLine(facts)];
  return {
    ...toTeam(subject, 'notice', settings, mail && id),
    text: [...lines, ...(note ? [toNoteText(note)] : [])].join('\n\n'),
    html: toPage(subject, [...content, ...(note ? [toNote(note)] : [])].join('\n')),
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
export function toDigestMail(
  { count, since, named }: { count: number; since: number; named: readonly ListedInquiry[] },
  settings: Settings,
): Mail {
  const { totalMailsPerHour: total, mailsPerHour } = settings;
  const start = new Date(since).toISOString();
  const subject = `${countInquiries(count)} since ${start.slice(11, 16)} UTC`;
  const note: Note = [
    `${countInquiries(count)} since ${showTime(since)} had no mail of their own: the mails of an hour were used up (${total.toLocaleString('en')}, ${mailsPerHour.toLocaleString('en')} about one sender) or theirs could not be sent. To list those that are unanswered, run:`,
    toCommand(settings, `list --since ${start.slice(0, 19)}Z`),
  ];
  return toListMail(
    'digest',
    { subject, note, named, title: `The newest ${named.length}` },
    settings,
  );
}

/**
 * The inquiries that have waited too long for an answer, for the team.
 *
 * @param named - The oldest ones, oldest first.
 */
export function toDailyMail(
  { count, days, named }: { count: number; days: number; named: readonly ListedInquiry[] },
  settings: Settings,
): Mail {
  const age = days === 1 ? '1 day' : `${days} days`;
  const note: Note = [
    `${countInquiries(count)} ${count === 1 ? 'has' : 'have'} waited for an answer for more than ${age}. To read one and answer it, or to take it off this list, run:`,
    toCommand(settings, 'show ID, reply ID or dismiss ID'),
  ];
  const subject = `${countInquiries(count)} unanswered for more than ${age}`;
  return toListMail(
    'daily',
    { subject, note, named, title: `The oldest ${named.length}` },
    settings,
  );
}

function toListMail(
  name: 'digest' | 'daily',
  parts: { subject: string; note: Note; title: string; named: readonly ListedInquiry[] },
  settings: Settings,
): Mail {
  const { subject, note, title } = parts;
  const named = parts.named.map((inquiry) => ({
    id: inquiry.id,
    time: toTime(inquiry.id),
    sender: showSender(inquiry.email),
    subject: toOneLine(showInvisible(toVisible(inquiry.subject)), SUBJECT_LIMIT) || '(no subject)',
  }));
  const lines = named.map(
    (row) => `${row.time}  ${row.id}\n  From: ${row.sender}\n  ${row.subject}\n`,
  );
  const items = named.map(
    (row) =>
      `<p style="margin:12px 0;${BREAK}">${row.time} <code>${row.id}</code><br>${toIsolated(row.sender)}<br>${toIsolated(row.subject)}</p>`,
  );
  const heading = `${title}, with addresses and subjects as their senders wrote them:`;
  return {
    ...toTeam(subject, name, settings),
    text: [toNoteText(note), heading, '-'.repeat(44), ...lines].join('\n'),
    html: toPage(subject, [toNote(note), `<p>${heading}</p>`, ...items].join('\n')),
  };
}

const countInquiries = (count: number): string =>
  count === 1 ? '1 inquiry' : `${count.toLocaleString('en')} inquiries`;

const showTime = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const toTime = (id: string): string => showTime(timeOf(id));

const showSender = (email: string): string => toOneLine(showAddress(email), ADDRESS_LIMIT);

const toFactLine = (facts: Readonly<Record<string, string>>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');

/** What all mails to the team have. `Auto-Submitted` keeps automatic replies away (RFC 3834). */
const toTeam = (subject: string, kind: string, settings: Settings, id?: string) => ({
  to: settings.inboxTo,
  from: settings.inboxFrom,
  subject: `[inquiries ${settings.stage}] ${subject}`,
  headers: { ...toHeaders(id ?? kind, settings), 'Auto-Submitted': 'auto-generated' },
  tags: { ...(id !== undefined && { inquiry: id }), mail: kind },
});

/**
 * All mails of an inquiry refer to the same message, which makes them one thread: SES gives each mail a Message-ID of its own.
 */
const toHeaders = (id: string, { inboxFrom }: Settings) => ({
  References: `<${id}@${inboxFrom.slice(inboxFrom.lastIndexOf('@') + 1)}>`,
});

const toCommand = ({ stage }: Settings, verb: string): string =>
  `npm run inbox -- ${stage === 'local' ? '' : `--stage ${stage} `}${verb}`;
