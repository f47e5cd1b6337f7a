/** Formats a date. CLDR lacks the French ordinal for the first of a month: « 1er novembre ». */
export const formatDate = (format: Intl.DateTimeFormat, time: number | Date): string => {
  const text = format.format(time);
  const isFrench = format.resolvedOptions().locale.startsWith('fr');
  return isFrench ? text.replace(/\b1 (?=\p{L}{3})/u, '1er ') : text;
};
