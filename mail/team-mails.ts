import type { Inquiry } from '../src/contract.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { escapeAddress } from '../text/invisible.ts';
import { NO_MESSAGE, NO_SUBJECT } from '../text/languages.ts';
import { toReference } from '../src/limits.ts';
import { toMailbox } from '../text/mailbox.ts';
import type { Bounce } from './bounces.ts';
import type { MailerConfig } from './config.ts';
import {
  createMail,
  formatButton,
  formatFacts,
  formatHeading,
  formatMessage,
  formatNote,
  formatParagraph,
  formatQuote,
  joinBlocks,
  NEUTRAL,
  type Block,
  type Pairs,
  type Blocks,
  type Envelope,
} from './blocks.ts';
import type { MailedInquiry } from './rows.ts';
import type { Mail } from './send-mail.ts';
import { cutLines, escapeText, toOneLine } from '../text/visible.ts';
import { formatTime, textsIn } from './texts.ts';

export const MARKER = textsIn('en').answerAbove;
export const DISMISSAL = 'Mark as answered';

const SUBJECT_LIMIT = 150;
const BODY_LIMIT = 100_000;
const QUOTE_LIMIT = 20_000;
const ADDRESS_LIMIT = 320;
const DIAGNOSTICS_LIMIT = 500;

export type ListedInquiry = Omit<Inquiry, 'cognito_sub' | 'body'>;

const FACTS: Record<keyof Inquiry, (inquiry: ListedInquiry, settings: MailerConfig) => Pairs> = {
  email: ({ email }) => [['From', formatSender(email)]],
  created_at: ({ created_at }, { timeZone }) => [
    ['Sent', formatTime(created_at, 'en-GB', timeZone)],
  ],
  id: ({ id }) => [['Reference', toReference(id)]],
  cognito_sub: () => [],
  subject: () => [],
  body: () => [],
};

const formatInquiryFacts = (inquiry: ListedInquiry, settings: MailerConfig): Block =>
  formatFacts(Object.values(FACTS).flatMap((toFacts) => toFacts(inquiry, settings)));

interface Around {
  /** Default: the owner's address. */
  replyAddress?: string | undefined;
  before?: StoredInquiry | undefined;
  /** False if SES refuses the owner's address in Reply-To. */
  withReplyTo?: boolean;
}

export function createInquiryMail(
  inquiry: Inquiry & Pick<MailedInquiry, 'follows'>,
  settings: MailerConfig,
  { replyAddress, before, withReplyTo = true }: Around = {},
): Mail {
  const { id, email, subject, body } = inquiry;
  const isCut = body.length > BODY_LIMIT || subject.length > SUBJECT_LIMIT;
  const canReply = withReplyTo && pageOf(settings) === undefined;
  const replyTo = canReply ? toMailbox(email) : undefined;
  const blocks = [
    formatQuote([formatText(body, BODY_LIMIT)]),
    formatInquiryFacts(inquiry, settings),
    isCut
      ? formatCommand('The text above is cut. To read all of it, run:', `show ${id}`, settings)
      : undefined,
    settings.inboxUrl === undefined
      ? undefined
      : formatButton('Open it in the inbox', `${settings.inboxUrl}inquiries/${id}`, NEUTRAL),
    ...(replyAddress === undefined
      ? formatCommands(id, replyTo !== undefined, settings)
      : formatAnswering(replyAddress)),
    ...(before === undefined ? [] : formatBefore(before)),
  ];
  const title = formatTitle(inquiry, settings);
  return createTeamMail('inquiry', settings, title, blocks, inquiry, { replyTo, replyAddress });
}

const formatBefore = (inquiry: StoredInquiry): Block[] => [
  ...(inquiry.reply_at === undefined ? [] : [formatAnswer(inquiry)]),
  formatTitled(`The inquiry before, ${toReference(inquiry.id)}:`, formatText(inquiry.body)),
];

export const formatAnswer = ({ respondent = '', reply, files = [] }: StoredInquiry): Block =>
  reply === undefined
    ? formatParagraph(`${formatSender(respondent)} marked it as answered.`)
    : formatTitled(
        `${formatSender(respondent)} answered:`,
        formatText(reply),
        ...(files.length === 0 ? [] : [formatFacts([['Files', files.join(', ')]])]),
      );

const formatAnswering = (replyAddress: string): Block[] => [
  formatParagraph('Reply to this mail, and the sender gets your text in the name of the service.'),
  formatButton(
    DISMISSAL,
    `mailto:${replyAddress}?subject=${encodeURIComponent(DISMISSAL)}`,
    NEUTRAL,
  ),
];

const formatCommands = (id: string, canReply: boolean, settings: MailerConfig): Block[] => [
  canReply
    ? formatCommand('To answer, reply to this mail or run:', `reply ${id}`, settings)
    : formatParagraph(
        'No mail can be sent to the sender, so a reply to this mail does not arrive there.',
      ),
  formatCommand('To mark it as answered, run:', `dismiss ${id}`, settings),
];

interface Failure extends Pick<Bounce, 'mail' | 'address'> {
  cause?: string | undefined;
  diagnostics?: string | undefined;
  why: keyof typeof NOTICE_TEXTS;
}

const OTHERWISE = 'Answer by another channel, or ask for another address.';
const NOTICE_TEXTS = {
  refused: ['could not be sent', `It was refused and will not be sent again. ${OTHERWISE}`],
  'no-address': ['was not sent', `No mail can be sent to this address. ${OTHERWISE}`],
  late: ['could not be sent for an hour', 'It will be sent as soon as possible, within 24 hours.'],
  bounce: ['could not be delivered', OTHERWISE],
  maybe: [
    'may not have arrived',
    'What the recipient’s server sent can also be an automatic reply.',
  ],
  complaint: ['was reported as spam', `No more mails are sent to this address. ${OTHERWISE}`],
} as const;

/** SES's subtypes of bounces (docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounce-types). */
const SUPPRESSED = 'Mails to this address came back before, so no more are sent to it.';
const CAUSES: Record<string, string> = {
  NoEmail: 'The address does not exist.',
  Suppressed: SUPPRESSED,
  OnAccountSuppressionList: SUPPRESSED,
  MailboxFull: 'The mailbox is full.',
  ContentRejected: 'The recipient’s server refuses what the mail says.',
};

export const formatTitled = (title: string, ...quoted: Block[]): Block =>
  joinBlocks([formatParagraph(title), formatQuote(quoted)]);

export function createNoticeMail(
  { mail, address, why, cause = '', diagnostics = '' }: Failure,
  settings: MailerConfig,
  inquiry?: MailedInquiry,
): Mail {
  const [what, advice] = NOTICE_TEXTS[why];
  const reference = toReference(inquiry?.id ?? '');
  const subject = `${mail === undefined ? 'A mail of the user pool' : `The ${mail} to ${reference}`} ${what}`;
  const said = toOneLine(diagnostics, DIAGNOSTICS_LIMIT, escapeText);
  const blocks = [
    formatParagraph([`${subject}.`, CAUSES[cause], mail && advice].filter(Boolean).join(' ')),
    formatFacts([['To', formatSender(address)]]),
    said === '' ? undefined : formatTitled('The recipient’s server said:', formatMessage(said)),
    mail === 'reply' && inquiry?.reply !== undefined
      ? formatTitled('The reply:', formatText(inquiry.reply))
      : undefined,
    inquiry &&
      formatTitled(
        'The inquiry:',
        formatHeading(formatSubject(inquiry.subject)),
        formatText(inquiry.body),
        formatInquiryFacts(inquiry, settings),
      ),
  ];
  return createTeamMail('notice', settings, subject, blocks, inquiry);
}

/** @param since - Milliseconds, at or before the first inquiry. @param named - The newest first. */
export function createDigestMail(
  { count, since, named }: { count: number; since: number; named: ListedInquiry[] },
  settings: MailerConfig,
): Mail {
  const subject = `${countInquiries(count)} since ${formatTime(since, 'en-GB', settings.timeZone)}`;
  const list = `list --since ${new Date(since).toISOString()}`;
  return createTeamMail('digest', settings, subject, [
    formatParagraph(
      `${subject} were not mailed one by one, because they exceeded the hourly limit or could not be sent. The newest:`,
    ),
    ...formatList(named, settings),
    formatCommand('To list those that are unanswered, run:', list, settings),
  ]);
}

/** @param withheld - Received mails of which nobody was told. @param named - The oldest first. */
export function createDailyMail(
  { count, withheld, named }: { count: number; withheld: number; named: ListedInquiry[] },
  settings: MailerConfig,
): Mail {
  const { answerWithin: days, replyDomain, stage } = settings;
  const waiting = `${countInquiries(count)} unanswered for more than ${days === 1 ? '1 day' : `${days} days`}`;
  const mails = `${withheld === 1 ? '1 mail was' : `${withheld} mails were`} not forwarded yesterday`;
  const subject = [...(count > 0 ? [waiting] : []), ...(withheld > 0 ? [mails] : [])].join('; ');
  const verbs = 'show REFERENCE, reply REFERENCE or dismiss REFERENCE';
  const how =
    replyDomain === undefined
      ? formatCommand('To read, answer or dismiss one, run:', verbs, settings)
      : formatParagraph('To answer one, reply to the mail about it.');
  const list = [formatParagraph(`${waiting}. The oldest:`), ...formatList(named, settings), how];
  return createTeamMail('daily', settings, subject, [
    ...(count > 0 ? list : []),
    withheld > 0
      ? formatNote(
          `${mails}: they were automatic, or too many in an hour. To have them forwarded, run:`,
          `npm run ops -- ${stage} received-mails --repeat`,
        )
      : undefined,
  ]);
}

const formatList = (named: ListedInquiry[], settings: MailerConfig): Block[] =>
  named.map((inquiry) =>
    formatQuote([
      formatHeading(formatSubject(inquiry.subject)),
      formatInquiryFacts(inquiry, settings),
    ]),
  );

const countInquiries = (count: number): string =>
  count === 1 ? '1 inquiry' : `${count.toLocaleString('en')} inquiries`;

export const formatSubject = (subject: string): string =>
  toOneLine(subject, SUBJECT_LIMIT, escapeText) || NO_SUBJECT.en;

export const formatSender = (email: string): string =>
  toOneLine(escapeAddress(email.slice(0, ADDRESS_LIMIT + 1)), ADDRESS_LIMIT);

export const formatText = (text: string, limit = QUOTE_LIMIT): Block =>
  formatMessage(text.trim() === '' ? NO_MESSAGE : cutLines(text, limit, escapeText));

const formatCommand = (text: string, verb: string, { stage }: MailerConfig): Block =>
  formatNote(text, `npm run inbox -- ${stage === 'local' ? '' : `--stage ${stage} `}${verb}`);

export const createTeamMail = (
  kind: string,
  settings: MailerConfig,
  title: string,
  blocks: Blocks,
  { id, follows }: Partial<Pick<MailedInquiry, 'id' | 'follows'>> = {},
  changes: Partial<Pick<Envelope, 'to' | 'replyTo' | 'replyAddress'>> = {},
): Mail => {
  const { inboxTo: to, inboxFrom: from, stage } = settings;
  // Gmail makes one thread of subjects that differ in a leading `Re:` at most.
  const subject = title.replace(/^(?:Re: )?/, (mark) => `${mark}[inquiries ${stage}] `);
  const mail = { kind, id, follows, automatic: 'auto-generated', to, from, subject } as const;
  const page = pageOf(settings);
  const shown = page === undefined ? blocks : formatOutline(title, page, id);
  return createMail({ ...mail, ...changes }, shown);
};

/** Replaces texts, which copies in mailboxes would keep beyond every retention. */
const formatOutline = (title: string, page: string, id = ''): Block[] => [
  formatParagraph(`${title}. Read it in the inbox, which has its text.`),
  formatButton('Open the inbox', new URL(id && `inquiries/${id}`, page).href, NEUTRAL),
];

export const formatTitle = (
  { id, subject }: Pick<Inquiry, 'id' | 'subject'>,
  settings: MailerConfig,
): string =>
  pageOf(settings) === undefined ? formatSubject(subject) : `Inquiry ${toReference(id)}`;

const pageOf = ({ linksOnly, inboxUrl }: MailerConfig): string | undefined =>
  linksOnly ? inboxUrl : undefined;
