/** Isolates a text's direction (Unicode UAX 9). Empty text stays empty. */
export const isolate = (text: string): string => (text === '' ? '' : `\u2068${text}\u2069`);
