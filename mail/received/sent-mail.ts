import { fold } from '../../text/search-text.ts';

export interface SentMail {
  senders: string[];
  replyTo: string;
  subject: string;
  text: string;
  /** Milliseconds. The mail, or a later one about the same inquiry, was sent at or soon after one of these times. */
  times: number[];
}

export type Facts = ReturnType<typeof createFacts>;

const DAY = 86_400_000;
/** Milliseconds that a mail may wait to be sent. */
const DELAY = 5 * 60_000;
/** Calendars in which Gmail, Outlook and Apple write dates. */
const CALENDARS = ['gregory', 'buddhist', 'islamic-umalqura', 'japanese', 'persian', 'roc'];
/** Minutes by which time zones differ, beside whole hours. */
const ZONES = [0, 30, 45];
/** Words, or characters of scripts without spaces, whose lines programs break anywhere. */
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{M}\p{N}]+/gu;

/** Leaves out what programs add or remove: invisible characters, and targets of links. */
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
 * Asks what is certain about a part of a received mail in any language. There are no patterns of mail programs, because
 * people write the same sentences.
 *
 * @param now - Milliseconds when it was received.
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
    /** Whether a text has date and minute. A date alone has at most three numbers. */
    hasTime: (text: string): boolean => {
      const numbers = toNumbers(text);
      return numbers.length > 3 && numbers.some((number) => minutes.has(number)) && hasDate(text);
    },
    hasSubject: (text: string): boolean => subject !== '' && squeeze(text).includes(subject),
    hasReplyTo: (text: string): boolean => squeeze(text).includes(squeeze(sent.replyTo)),
    /** Whether a line, or a piece of one, has only words of the sent mail. */
    isOurs: (line: string): boolean => {
      const own = toWords(line);
      return [...own, ...toPairs(own)].every((one) => known.has(one));
    },
    /** Whether lines have only words of the sent mail, each as often and in their order. */
    isInOrder: (lines: string[]): boolean => {
      let at = -1;
      return toWords(lines.join('\n')).every((word) => (at = words.indexOf(word, at + 1)) !== -1);
    },
    /** Whether a line is the hidden text before the marker, which is the end of the subject. */
    isPreheader: (line: string): boolean => squeeze(line) !== '' && subject.endsWith(squeeze(line)),
  };
}
