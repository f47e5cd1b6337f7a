import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { Parser } from 'htmlparser2';

/** UTF-16 units that are read, and levels of elements. */
const LIMIT = 300_000;
const DEPTH = 1_000;
const INDENTED = 10;

/** U+FFFD stands for what was not read. */
export const UNREAD = '\uFFFD';

const HIDDEN = ['display:none', 'visibility:hidden', 'mso-hide:all'].flatMap((style) => [
  `[style*="${style}" i]`,
  `[style*="${style.replace(':', ': ')}" i]`,
]);

interface Builder {
  options: { formatters: Partial<Record<string, FormatCallback>> };
}

const EMOJI = /^\p{RGI_Emoji}+$/v;

const toComparable = (link: string): string =>
  link
    .replace(/^mailto:([^?]*).*/i, '$1')
    .replace(/^(?:tel:|https?:\/\/)/i, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

const formatLink: FormatCallback = ({ attribs, children }, walk, builder) => {
  const href = String(attribs.href ?? '');
  let text = '';
  builder.pushWordTransform((word) => {
    text += word;
    return word;
  });
  walk(children, builder);
  builder.popWordTransform();
  if (href.startsWith('#') || toComparable(text) === toComparable(href)) return;
  builder.addInline(text === '' ? href : ` [${href}]`, { noWordTransform: true });
};

const formatImage: FormatCallback = ({ attribs }, _walk, builder) => {
  const alt = String(attribs.alt ?? '');
  if (EMOJI.test(alt)) builder.addInline(alt);
};

const formatCell: FormatCallback = ({ children }, walk, builder) => {
  walk(children, builder);
  builder.addInline(' ');
};

/** Deep levels are not read, because each copies the text. */
function createIndented(): Record<string, FormatCallback> {
  let depth = 0;
  const names = ['blockquote', 'orderedList', 'unorderedList'];
  const toIndented =
    (name: string): FormatCallback =>
    (element, walk, builder, options) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types leave these out
      const { formatters } = (builder as unknown as Builder).options;
      depth++;
      if (depth > INDENTED) builder.addInline(UNREAD);
      else formatters[name]?.(element, walk, builder, options);
      depth--;
    };
  return Object.fromEntries(names.map((name) => [`indented-${name}`, toIndented(name)]));
}

const OPTIONS = {
  wordwrap: false,
  formatters: {
    link: formatLink,
    picture: formatImage,
    cell: formatCell,
  },
  selectors: [
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'picture' },
    // Text above a rule does not touch a header block below it.
    { selector: 'hr', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    { selector: 'title', format: 'skip' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'blockquote', format: 'indented-blockquote' },
    { selector: 'ol', format: 'indented-orderedList' },
    { selector: 'ul', format: 'indented-unorderedList' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
    ...['del', 's', 'strike', '[style*="line-through" i]'].map((selector) => ({
      selector,
      format: 'inlineSurround',
      options: { prefix: '~~', suffix: '~~' },
    })),
    ...['[hidden]', ...HIDDEN].map((selector) => ({ selector, format: 'skip' })),
  ],
} satisfies HtmlToTextOptions;

class TooDeep extends Error {}

/** @throws TooDeep, since the parser's time grows with the square of the depth. */
function checkDepth(html: string): void {
  let depth = 0;
  const parser = new Parser({
    onopentagname() {
      if (++depth > DEPTH) throw new TooDeep();
    },
    onclosetag: () => void depth--,
  });
  parser.end(html);
}

/** Removes style sheets and embedded pictures, which can be longer than any text. */
function lighten(html: string): string {
  let light = '';
  let start = 0;
  for (const { index } of html.matchAll(/<style\b/gi)) {
    if (index < start) continue;
    const end = html.slice(index).search(/<\/style/i);
    if (end === -1) break;
    light += html.slice(start, index);
    start = index + end;
  }
  return (light + html.slice(start)).replaceAll(/(?<=["'=(])data:[^"'\s>)]*/g, '');
}

export function createToText() {
  let left = LIMIT;
  const formatters = { ...OPTIONS.formatters, ...createIndented() };
  const convert = compile({ ...OPTIONS, formatters });
  return (html: string): string => {
    if (left === 0) return UNREAD;
    const light = lighten(html);
    const beginning = light.slice(0, left);
    left -= beginning.length;
    try {
      checkDepth(beginning);
    } catch {
      return UNREAD;
    }
    const text = convert(beginning);
    const isWhole = beginning.length === light.length;
    return text.replaceAll(/\n(?:[^\S\n]*\n){2,}/g, '\n\n') + (isWhole ? '' : UNREAD);
  };
}
