import { fold } from '../../text/search-text.ts';

export interface SentMail {
  senders: string[];
  replyTo: string;
  subject: string;
  text: string;
  /** Milliseconds: it, or a later one about the same inquiry, was sent at one of these times or after them. */
  times: number[];
}

export type Facts = ReturnType<typeof createFacts>;

const DAY = 86_400_000;
/** Milliseconds that a mail may wait to be sent. */
const DELAY = 5 * 60_000;
/** Of what Gmail, Outlook and Apple write dates in. */
const CALENDARS = ['gregory', 'buddhist', 'islamic-umalqura', 'japanese', 'persian', 'roc'];
/** Minutes that zones differ by, beside hours. */
const ZONES = [0, 30, 45];
/** Words; of scripts without spaces, which programs break anywhere, characters. */
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{M}\p{N}]+/gu;

/** Without what programs add and leave out: invisible characters, and the targets of links. */
const toWords = (text: string): string[] =>
  text
    .replaceAll(/\p{Default_Ignorable_Code_Point}|<[^<>\s]*\s?>/gu, '')
    .toLowerCase()
    .match(WORD) ?? [];

const toPairs = (words: string[]): string[] =>
  words.slice(1).map((word, at) => `${words[at]} ${word}`);

const squeeze = (text: string): string =>
  text.replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, '').toLowerCase();

const toNumbers = (text: string): string[] => fold(text).match(/\d+/g) ?? [];

function toDates(from: number, to: number): [day: string, years: string[]][] {
  return CALENDARS.flatMap((calendar) => {
    const format = new Intl.DateTimeFormat(`en-u-ca-${calendar}`, {
      timeZone: 'UTC',
      year: 'numeric',
      day: 'numeric',
    });
    return Array.from({ length: Math.ceil((to - from) / DAY) + 3 }, (_, days) => {
      const parts = format.formatToParts(from + (days - 1) * DAY);
      const read = (...types: string[]) => parts.find(({ type }) => types.includes(type))?.value;
      const year = read('year', 'relatedYear') ?? '';
      return [read('day') ?? '', [year, year.slice(-2)]];
    });
  });
}

/**
 * What is certain about a part of a received mail, in any language. No pattern of mail programs: their sentences are
 * people's, too.
 *
 * @param now - Milliseconds, when it was received.
 */
export function createFacts(sent: SentMail, now: number) {
  const senders = [...sent.senders, sent.replyTo].map(squeeze).filter((one) => one.length > 2);
  const subject = squeeze(sent.subject);
  const dates = toDates(Math.min(...sent.times), now);
  const minutes = new Set(
    sent.times.flatMap((time) =>
      ZONES.flatMap((zone) =>
        Array.from({ length: DELAY / 60_000 + 1 }, (_, minute) =>
          new Date(time + (zone + minute) * 60_000).toISOString().slice(14, 16),
        ),
      ),
    ),
  );
  const words = toWords(sent.text);
  const known = new Set([...words, ...toPairs(words)]);

  const hasSender = (text: string): boolean => {
    const squeezed = squeeze(text);
    return senders.some((one) => squeezed.includes(one));
  };
  const hasDate = (text: string): boolean => {
    const numbers = toNumbers(text).map((number) => number.replace(/^0(?=.)/, ''));
    return dates.some(([day, years]) =>
      numbers.some((year, at) => years.includes(year) && numbers.toSpliced(at, 1).includes(day)),
    );
  };
  return {
    hasSender,
    hasDate,
    hasYear: (text: string): boolean => {
      const numbers = toNumbers(text);
      return dates.some(([, years]) => numbers.some((number) => years.includes(number)));
    },
    /** The date, and the minute; a date alone has at most three numbers. */
    hasTime: (text: string): boolean => {
      const numbers = toNumbers(text);
      return numbers.length > 3 && numbers.some((number) => minutes.has(number)) && hasDate(text);
    },
    hasSubject: (text: string): boolean => subject !== '' && squeeze(text).includes(subject),
    hasReplyTo: (text: string): boolean => squeeze(text).includes(squeeze(sent.replyTo)),
    /** Whether all of a line, or of a piece of one, is of the mail's text. */
    isOurs: (line: string): boolean => {
      const own = toWords(line);
      return [...own, ...toPairs(own)].every((one) => known.has(one));
    },
    /** Whether lines have nothing but words of the mail's text, each as often and in its order. */
    isInOrder: (lines: string[]): boolean => {
      let at = -1;
      return toWords(lines.join('\n')).every((word) => (at = words.indexOf(word, at + 1)) !== -1);
    },
    /** The hidden beginning of the subject, before the marker. */
    isPreheader: (line: string): boolean => squeeze(line) !== '' && subject.endsWith(squeeze(line)),
  };
}
