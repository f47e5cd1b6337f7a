/**
 * Accents of Latin, Greek and Cyrillic letters, and the vowel signs of Arabic. Those of other scripts tell words apart.
 */
const MARKS = /[\u0300-\u036F\u064B-\u065F\u0670]/g;

/** A text as searches compare it: without case and accents, letters in their normal form. */
export const fold = (text: string): string =>
  text.normalize('NFKD').replace(MARKS, '').toLowerCase();
