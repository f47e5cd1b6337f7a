/** Callers isolate the texts that they put in (../bidi.ts). */

/** By the language's plural rules (CLDR); `{n}` is the number. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & {
  other: string;
};

export interface Message {
  title: string;
  text?: string | undefined;
}
