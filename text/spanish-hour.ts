/** Adds the article, which is singular at one o'clock. */
export const toSpanishHour = (time: string): string =>
  `${/^0?1\D/.test(time) ? 'la' : 'las'} ${time}`;
