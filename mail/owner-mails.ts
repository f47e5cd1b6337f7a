import { directionOf, inLanguage, NO_SUBJECT, type Language } from '../text/languages.ts';
import { toReference } from '../src/limits.ts';
import { toMailbox } from '../text/mailbox.ts';
import type { MailerConfig } from './config.ts';
import {
  createMail,
  formatBreak,
  formatFacts,
  formatLinkedLines,
  formatLinks,
  formatMessage,
  formatQuote,
  formatSmall,
  joinBlocks,
  SMALL,
  type Envelope,
  type Block,
} from './blocks.ts';
import type { MailedInquiry } from './rows.ts';
import type { Mail } from './send-mail.ts';
import { cutLines, isBlank, toOneLine, toVisible } from '../text/visible.ts';
import { formatYouWrote, textsIn } from './texts.ts';

const SUBJECT_LIMIT = 150;
const QUOTE_LIMIT = 20_000;

const DEFAULT_ACCENT = '#3f4fd0';

/** Prefixes of subjects of answers in several languages, also repeated and counted. */
const ANSWER_MARKS =
  /^(?:\s*(?:re|aw|antw|sv|vs|odp|ynt|res|rif|atb|bls|回复|回覆|答复|رد)\s*(?:\[\d+\]|\(\d+\)|\^\d+)?\s*[:：])+/iu;

export function toReplySubject(subject: string, language: Language): string {
  const line = toOneLine(subject, SUBJECT_LIMIT).replace(ANSWER_MARKS, '').trim();
  return `Re: ${isBlank(line) ? NO_SUBJECT[language] : line}`;
}

/**
 * Creates the mail in the inquiry's language or the stage's. The reply is never cut, because the owner cannot read it
 * elsewhere.
 *
 * @returns undefined when the owner's address takes no mail.
 */
export function createReplyMail(
  inquiry: MailedInquiry,
  settings: MailerConfig,
  { replyAddress }: Pick<Envelope, 'replyAddress'> = {},
): Mail | undefined {
  const { body, created_at, reply = '', language = settings.language } = inquiry;
  const youWrote = formatYouWrote(created_at, language, settings.timeZone);
  const direction = directionOf(language);
  const quote = formatQuote(
    [formatMessage(cutLines(body, QUOTE_LIMIT))],
    '> ',
    direction,
    `${SMALL};`,
  );
  return createOwnerMail(inquiry, settings, {
    kind: 'reply',
    replyAddress,
    subject: toReplySubject(inquiry.subject, language),
    message: toVisible(reply),
    original: isBlank(body) ? [] : [formatBreak(youWrote), quote],
  });
}

/** The mail does not quote the inquiry, because a stranger may have written it. */
export function createAcknowledgementMail(
  inquiry: MailedInquiry,
  settings: MailerConfig,
  { replyAddress }: Pick<Envelope, 'replyAddress'> = {},
): Mail | undefined {
  const { language = settings.language } = inquiry;
  const { receivedAs, received, toAdd } = textsIn(language);
  const expectation = inLanguage(settings.company.expectation ?? '', language);
  return createOwnerMail(inquiry, settings, {
    kind: 'acknowledgement',
    automatic: 'auto-replied',
    subject: receivedAs(toReference(inquiry.id)),
    replyAddress,
    message: [received, expectation, replyAddress && toAdd].filter(Boolean).join('\n'),
    original: [],
  });
}

interface Content extends Pick<Envelope, 'kind' | 'subject' | 'automatic' | 'replyAddress'> {
  message: string;
  original: Block[];
}

function createOwnerMail(
  { id, follows, email, language: ofInquiry }: MailedInquiry,
  { inboxTo, inboxFrom, language: ofStage, company }: MailerConfig,
  { message, original, ...content }: Content,
): Mail | undefined {
  const to = toMailbox(email);
  if (to === undefined) return undefined;
  const language = ofInquiry ?? ofStage;
  const { name = '', form = '', home = '', privacy = '', imprint = '' } = company;
  const { accent = DEFAULT_ACCENT } = company;
  const texts = textsIn(language);
  const blocks = [
    name === '' ? undefined : formatSmall(name),
    formatMessage(message, formatLinkedLines),
    joinBlocks(
      [
        formatFacts([[texts.reference, toReference(id)]]),
        formatLinks([[texts.view, form && new URL(`#${id}`, form).href]]),
      ],
      0,
    ),
    ...original,
    formatLinks([
      [name || home, home],
      [texts.privacy, privacy],
      [texts.imprint, imprint],
    ]),
  ];
  const from = formatFrom(name, inboxFrom);
  const envelope = { to, from, replyTo: inboxTo, id, follows, ...content };
  return createMail(envelope, blocks, language, accent);
}

/** Characters of up to four bytes that fit into a base64 encoded word (RFC 2047, 2). */
const WORD = /.{1,11}/gu;

/** Quotes the name (RFC 5322, 3.2.4) or, if it is not ASCII, encodes it (RFC 2047). */
export function formatFrom(name: string, address: string): string {
  const line = toOneLine(name, SUBJECT_LIMIT);
  if (line === '') return address;
  const quoted = /^[ -~]*$/.test(line)
    ? `"${line.replaceAll(/["\\]/g, String.raw`\$&`)}"`
    : line
        .replaceAll(WORD, (word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?= `)
        .trim();
  return `${quoted} <${address}>`;
}
