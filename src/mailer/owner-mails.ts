/** Builds the mails to owners. Pure functions; src/mailer/ses.ts sends. */
import { timeOf } from '../contract.ts';
import { inLanguage, NO_SUBJECT } from '../languages.ts';
import { toReference } from '../limits.ts';
import { toMailbox } from '../mailbox.ts';
import type { MailerConfig } from './config.ts';
import {
  createPage,
  formatBlock,
  formatFacts,
  formatHeading,
  formatLinks,
  formatParagraph,
  formatQuietLine,
  formatQuote,
  threadHeaders,
} from './parts.ts';
import type { MailedInquiry } from './rows.ts';
import type { Mail } from './send-mail.ts';
import { cut, toOneLine, toVisible } from './text.ts';
import { textsIn } from './texts.ts';

type Settings = Pick<MailerConfig, 'inboxTo' | 'inboxFrom' | 'language' | 'company'>;

/** UTF-16 units. */
const SUBJECT_LIMIT = 150;
const QUOTE_LIMIT = 20_000;

/** `Re:` of mail programs in several languages, also `Re[2]:`. */
const REPLY_PREFIXES = /^(?:\s*(?:re|aw|antw|sv|rif|r|رد|回复|回覆)(?:\[\d+\])?\s*[:：])+\s*/i;

/**
 * The answer to an inquiry, for its owner, in the language of the inquiry or of the stage. The reply is never cut: the
 * owner has no other way to read it. The original follows, quoted, and is cut when it is long.
 *
 * @returns undefined when no mail can be sent to the owner's address.
 */
export function createReplyMail(inquiry: MailedInquiry, settings: Settings): Mail | undefined {
  const { id, reply = '', language = settings.language } = inquiry;
  const subject = toOneLine(inquiry.subject, SUBJECT_LIMIT).replace(REPLY_PREFIXES, '');
  const { youWrote, direction } = textsIn(language);
  const beginning = cut(inquiry.body, QUOTE_LIMIT);
  const isCut = beginning !== inquiry.body;
  const quoted = `${toVisible(beginning)}${isCut ? '\n[…]' : ''}`;
  const introduction = youWrote(timeOf(id));
  return createOwnerMail(inquiry, settings, {
    kind: 'reply',
    title: `Re: ${subject || NO_SUBJECT[language]}`,
    message: toVisible(reply),
    original: {
      text: `${introduction}\n\n${quoted.replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '')}`,
      html: `${formatParagraph(introduction)}\n${formatQuote(formatBlock(quoted), direction)}`,
    },
  });
}

/**
 * Says that an inquiry has arrived, for its owner, as {@link createReplyMail}. It holds nothing of what the inquiry says: a
 * stranger may have written it. Programs that answer mails themselves know by its `Auto-Submitted` that nobody wrote it
 * (RFC 3834).
 */
export function createAcknowledgementMail(
  inquiry: MailedInquiry,
  settings: Settings,
): Mail | undefined {
  const { language = settings.language } = inquiry;
  const { received } = textsIn(language);
  const expectation = inLanguage(settings.company.expectation ?? '', language);
  const mail = createOwnerMail(inquiry, settings, {
    kind: 'acknowledgement',
    title: received.replace(/[.。]$/u, ''),
    message: [received, expectation].filter(Boolean).join('\n'),
  });
  return mail && { ...mail, headers: { ...mail.headers, 'Auto-Submitted': 'auto-replied' } };
}

interface Content {
  readonly kind: 'reply' | 'acknowledgement';
  readonly title: string;
  readonly message: string;
  readonly original?: { readonly text: string; readonly html: string };
}

/** The company's name on top, the message, the reference, a link to the inquiry, the original, and the company's links. */
function createOwnerMail(
  { id, email, language: ofInquiry }: MailedInquiry,
  { inboxTo, inboxFrom, language: ofStage, company }: Settings,
  { kind, title, message, original }: Content,
): Mail | undefined {
  const to = toMailbox(email);
  if (to === undefined) return undefined;
  const language = ofInquiry ?? ofStage;
  const { name = '', accent, form, home, privacy, imprint } = company;
  const texts = textsIn(language);
  const facts = { [texts.reference]: toReference(id) };
  const view = form === undefined ? [] : [[texts.view, new URL(`#${id}`, form).href] as const];
  const links = [
    [URL.parse(home ?? '')?.host ?? '', home] as const,
    [texts.privacy, privacy] as const,
    [texts.imprint, imprint] as const,
  ].flatMap(([label, url]) => (url === undefined ? [] : [[label, url] as const]));
  return {
    to,
    from: formatFrom(name, inboxFrom),
    replyTo: inboxTo,
    subject: title,
    text: [
      name,
      message,
      [formatFacts(facts), ...view.flat()].join('\n'),
      original?.text ?? '',
      links.map(([label, url]) => (url === home ? url : `${label} ${url}`)).join('\n'),
    ]
      .filter(Boolean)
      .join('\n\n'),
    html: createPage(
      title,
      [
        name === '' ? '' : formatHeading(name),
        formatBlock(message, { withLinks: true }),
        formatQuietLine(facts),
        formatLinks(view),
        original?.html ?? '',
        formatLinks(links),
      ].join('\n'),
      { language, direction: texts.direction, accent },
    ),
    headers: threadHeaders(id, inboxFrom),
    tags: { inquiry: id, mail: kind },
  };
}

/** Units of an encoded word: 75 characters with its frame (RFC 2047, 2), in base64. */
const WORD_BYTES = 45;

/** A name and an address for `From`: the name quoted (RFC 5322, 3.2.4), or encoded if it is not ASCII (RFC 2047). */
export function formatFrom(name: string, address: string): string {
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
