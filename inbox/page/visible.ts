import { showInvisible, toEscape } from '../../src/text/invisible.ts';

const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
/** They show nothing. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** A text as row and inquiry show it. */
export const toVisible = (text: string): string =>
  showInvisible(text.replaceAll(LINE_END, '\n').replaceAll(CONTROL, toEscape));
