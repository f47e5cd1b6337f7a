/**
 * The texts that people read, one file per language. Functions put in names, addresses and other texts of users as they
 * are; the caller isolates them (../bidi.ts), so that their direction does not change that of the sentence.
 */

/**
 * The forms of a text with a number, by the plural rules of the language (CLDR). `{n}` stands for the number as the
 * language writes it.
 */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & {
  other: string;
};

export interface Message {
  title: string;
  text?: string | undefined;
}
