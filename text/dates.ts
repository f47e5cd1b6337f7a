/** A date in words. French has an ordinal for the first of a month, which CLDR lacks: « 1er novembre ». */
export const formatDate = (format: Intl.DateTimeFormat, time: number | Date): string => {
  const text = format.format(time);
  const isFrench = format.resolvedOptions().locale.startsWith('fr');
  return isFrench ? text.replace(/\b1 (?=\p{L}{3})/u, '1er ') : text;
};
