/**
 * Builds the mails. Pure functions; src/mailer/ses.ts sends.
 *
 * In a mail to the team, all of its own words come before the text of the user, who therefore cannot imitate them. No
 * address or link of the HTML parts comes from a user.
 */
import { timeOf } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import { showAddress, showInvisible } from '../invisible.ts';
import type { MailerConfig } from './config.ts';
import { inLanguage } from './languages.ts';
import type { Language } from '../languages.ts';
import { toMailbox } from '../mailbox.ts';
import { cut, escapeHtml, toOneLine, toVisible } from './text.ts';

export interface Mail {
  readonly to: string;
  readonly from: string;
  readonly replyTo?: string;
  /** At most 250 UTF-16 units, without control characters. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Printable ASCII. */
  readonly headers: Readonly<Record<string, string>>;
}

type Settings = Pick<
  MailerConfig,
  'stage' | 'inboxTo' | 'inboxFrom' | 'mailsPerHour' | 'totalMailsPerHour' | 'language'
>;

/** UTF-16 units. */
const SUBJECT_LIMIT = 150;
const HEADING_LIMIT = 1_000;
const BODY_LIMIT = 100_000;
const QUOTE_LIMIT = 20_000;
const ADDRESS_LIMIT = 320;

/**
 * A new inquiry, for the team. Reply-To is the owner if SES takes the address; the text says what to do otherwise. A
 * long text is cut, and says how to read the rest.
 *
 * @param withReplyTo - False: as if the owner's address could not be used.
 */
export function toInquiryMail(inquiry: Inquiry, settings: Settings, withReplyTo = true): Mail {
  const { id, email } = inquiry;
  const heading = showInvisible(toVisible(inquiry.subject));
  const subject = toOneLine(heading, HEADING_LIMIT) || '(no subject)';
  const whole = toVisible(inquiry.body);
  const body = cut(whole, BODY_LIMIT);
  const isCut = body !== whole || heading.length > HEADING_LIMIT;
  const replyTo = withReplyTo ? toMailbox(email) : undefined;
  const facts = { From: toOneLine(showAddress(email), ADDRESS_LIMIT), Time: toTime(id), Inquiry: id };
  const dismiss = toCommand(settings, `dismiss ${id}`);
  const notes: Note[] = [];
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
  if (isCut) {
    const length = inquiry.body.length.toLocaleString('en');
    notes.push([
      `The text below is cut; all of it has ${length} characters. To read it, run:`,
      toCommand(settings, `show ${id}`),
    ]);
  }
  const text = [
    toLines(facts),
    '',
    ...notes.map(([note, command]) => `${note}\n  ${command}\n`),
    'The sender wrote everything below this line.',
    '-'.repeat(44),
    `Subject: ${subject}`,
    '',
    body || '(no text)',
    ...(isCut ? ['…'] : []),
  ].join('\n');
  const html = [
    toTable(facts),
    ...notes.map(toNote),
    `<div style="${toQuoteStyle('ltr')}"><h1 dir="auto" lang="" style="margin:0 0 12px;font-size:20px;line-height:1.3;overflow-wrap:anywhere">${escapeHtml(subject)}</h1>`,
    `${toBlock(body || '(no text)')}${isCut ? '<p>…</p>' : ''}</div>`,
  ].join('\n');
  return {
    to: settings.inboxTo,
    ...toCommon(inquiry, settings),
    ...(replyTo !== undefined && { replyTo }),
    subject: `[inquiries ${settings.stage}] ${toOneLine(subject, SUBJECT_LIMIT)}`,
    text,
    html: toPage(subject, html),
  };
}

/**
 * The answer to an inquiry, for its owner, in the language of the stage. The reply is never cut: the owner has no other
 * way to read it. The original follows, quoted, and is cut when it is long.
 *
 * @returns undefined when no mail can be sent to the owner's address.
 */
export function toReplyMail(inquiry: Inquiry, reply: string, settings: Settings): Mail | undefined {
  const to = toMailbox(inquiry.email);
  if (to === undefined) return undefined;
  const { language } = settings;
  const { noSubject, youWrote, direction } = inLanguage(language);
  const subject = toOneLine(inquiry.subject, SUBJECT_LIMIT) || noSubject;
  const answer = toVisible(reply);
  const original = toVisible(inquiry.body);
  const quoted = cut(original, QUOTE_LIMIT);
  const ending = quoted === original ? '' : '\n[…]';
  const introduction = youWrote(timeOf(inquiry.id));
  const text = [
    answer,
    '',
    introduction,
    '',
    ...`${quoted}${ending}`.split('\n').map((line) => `> ${line}`.trimEnd()),
  ].join('\n');
  const html = [
    toBlock(answer),
    `<p style="margin:24px 0 8px">${escapeHtml(introduction)}</p>`,
    `<blockquote style="${toQuoteStyle(direction)}">${toBlock(`${quoted}${ending}`)}</blockquote>`,
  ].join('\n');
  return {
    to,
    replyTo: settings.inboxTo,
    ...toCommon(inquiry, settings),
    subject: `Re: ${subject}`,
    text,
    html: toPage(`Re: ${subject}`, html, language, direction),
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
    `${countInquiries(count)} since ${showTime(since)} had no mail of their own: the mails of an hour were used up (${total.toLocaleString('en')}, ${mailsPerHour.toLocaleString('en')} about one sender), or theirs, or the reply to them, could not be sent. To list those that are unanswered, run:`,
    toCommand(settings, `list --since ${start.slice(0, 19)}Z`),
  ];
  return toListMail('digest', { subject, note, named, title: `The newest ${named.length}` }, settings);
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
  return toListMail('daily', { subject, note, named, title: `The oldest ${named.length}` }, settings);
}

function toListMail(
  name: string,
  parts: { subject: string; note: Note; title: string; named: readonly ListedInquiry[] },
  settings: Settings,
): Mail {
  const { subject, note, title } = parts;
  const named = parts.named.map((inquiry) => ({
    id: inquiry.id,
    time: toTime(inquiry.id),
    sender: toOneLine(showAddress(inquiry.email), ADDRESS_LIMIT),
    subject: toOneLine(showInvisible(toVisible(inquiry.subject)), SUBJECT_LIMIT) || '(no subject)',
  }));
  const lines = named.map((row) => `${row.time}  ${row.id}\n  From: ${row.sender}\n  ${row.subject}\n`);
  const items = named.map(
    (row) =>
      `<p style="margin:12px 0">${row.time} <code>${row.id}</code><br><bdi>${escapeHtml(row.sender)}</bdi><br><bdi>${escapeHtml(row.subject)}</bdi></p>`,
  );
  const heading = `${title}, with addresses and subjects as their senders wrote them:`;
  return {
    to: settings.inboxTo,
    ...toCommon({ id: name }, settings),
    subject: `[inquiries ${settings.stage}] ${subject}`,
    text: [`${note[0]}\n  ${note[1]}\n`, heading, '-'.repeat(44), ...lines].join('\n'),
    html: toPage(subject, [toNote(note), `<p>${heading}</p>`, ...items].join('\n')),
  };
}

const countInquiries = (count: number): string =>
  count === 1 ? '1 inquiry' : `${count.toLocaleString('en')} inquiries`;

const showTime = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const toTime = (id: string): string => showTime(timeOf(id));

/**
 * All mails of an inquiry refer to the same message, which makes them one thread: SES gives each mail a Message-ID of
 * its own. `Auto-Submitted` keeps automatic replies away (RFC 3834).
 */
const toCommon = ({ id }: { readonly id: string }, { inboxFrom }: Settings) => ({
  from: inboxFrom,
  headers: {
    References: `<${id}@${inboxFrom.slice(inboxFrom.lastIndexOf('@') + 1)}>`,
    'Auto-Submitted': 'auto-generated',
  },
});

/** A sentence, and the command that it announces. */
type Note = readonly [text: string, command: string];

const toCommand = ({ stage }: Settings, verb: string): string =>
  `npm run inbox -- ${stage === 'local' ? '' : `--stage ${stage} `}${verb}`;

// Styles are inline, which all mail programs read. Only lines have a colour, so that each program uses its own for the
// rest, light or dark.
// Mail programs that lack logical properties (border-inline-start) are still in use.
const toQuoteStyle = (direction: 'ltr' | 'rtl'): string => {
  const side = direction === 'rtl' ? 'right' : 'left';
  return `margin:16px 0 0;padding:4px 0;padding-${side}:16px;border-${side}:3px solid #888`;
};

const toNote = ([note, command]: Note): string =>
  `<p style="margin:12px 0">${escapeHtml(note)}<br><code style="font:14px/1.5 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere">${escapeHtml(command)}</code></p>`;

const toLines = (facts: Record<string, string>): string =>
  Object.entries(facts)
    .map(([name, value]) => `${`${name}:`.padEnd(9)}${value}`)
    .join('\n');

const toTable = (facts: Record<string, string>): string =>
  `<table style="border-collapse:collapse;font:inherit">${Object.entries(facts)
    .map(
      ([name, value]) =>
        `<tr><th scope="row" style="padding:0 16px 0 0;text-align:left;vertical-align:top;font-weight:normal">${name}</th><td style="padding:0;overflow-wrap:anywhere"><bdi>${escapeHtml(value)}</bdi></td></tr>`,
    )
    .join('')}</table>`;

/** Paragraphs of a user, each in the direction of its first letter. */
const toBlock = (text: string): string =>
  `<div dir="auto" lang="" style="white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext">${escapeHtml(text)}</div>`;

const toPage = (
  title: string,
  content: string,
  language: Language = 'en',
  direction: 'ltr' | 'rtl' = 'ltr',
): string => `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escapeHtml(title)}</title>
<style>:root { color-scheme: light dark; }</style>
</head>
<body style="margin:0;padding:16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:44em">
${content}
</div>
</body>
</html>
`;
