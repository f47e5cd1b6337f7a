/** The texts that people read. Callers isolate what they put in (../bidi.ts). */

/** By the plural rules of the language (CLDR). `{n}` stands for the number. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & {
  other: string;
};

export interface Message {
  title: string;
  text?: string | undefined;
}
