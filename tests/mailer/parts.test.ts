import { expect, it } from 'vitest';
import { formatBlock, formatMarkedLines } from '../../src/mailer/parts.ts';

it.each([
  ['a '.repeat(40), `| ${'a '.repeat(36).trim()}\n| a a a a`],
  ['漢'.repeat(80), `| ${'漢'.repeat(72)}\n| ${'漢'.repeat(8)}`],
  [
    `see https://a.example/${'a'.repeat(90)} b`,
    `| see\n| https://a.example/${'a'.repeat(90)}\n| b`,
  ],
  ['a\n\n b', '| a\n|\n|  b'],
])('marks each line of %j, and breaks it where a mail program would', (text, marked) =>
  expect(formatMarkedLines(text, '| ')).toBe(marked),
);

it('has lines that Outlook shows, and keeps indents', () => {
  expect(formatBlock('a\n\n  b  c\td')).toContain(
    '>a<br>\n<br>\n&#160; b&#160; c&#160;&#160;&#160; d</div>',
  );
});

it.each([
  ['Hello\nمرحبا', 'ltr', 'left'],
  ['1. مرحبا\n\nAna Beck, Example Ltd.', 'rtl', 'right'],
  ['שלום', 'rtl', 'right'],
  ['123', 'ltr', 'left'],
])('all lines of %j begin at the side of the first letter', (text, direction, side) => {
  expect(formatBlock(text)).toContain(`<div dir="${direction}" style="text-align:${side};`);
});

const linksOf = (text: string) =>
  [...formatBlock(text, { withLinks: true }).matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(
    ([, href, shown]) => {
      expect(shown).toBe(href);
      return href;
    },
  );

it.each([
  ['see https://example.com/help.', ['https://example.com/help']],
  [
    '(http://example.com) and https://example.com/?a=1&b=2#c!',
    ['http://example.com', 'https://example.com/?a=1&#38;b=2#c'],
  ],
  ['"https://example.com/a"', ['https://example.com/a']],
  ['https://example.com/"onmouseover="alert(1)', ['https://example.com/']],
  ['https://example.com/<script>x</script>', ['https://example.com/']],
  ['انظر https://example.com/a، شكرا', ['https://example.com/a']],
])('the pages that %j names are links that lead where they say', (text, links) =>
  expect(linksOf(text)).toEqual(links),
);

it.each([
  'javascript:alert(1)',
  'data:text/html,x ftp://example.com',
  'https://bank.example@evil.example/',
  'https://bank.example\\@evil.example',
  'https://exämple.com',
  'https://EXAMPLE.com/../x',
  'xhttps://example.com',
  'https://',
])('%j is no link', (text) => expect(linksOf(text)).toEqual([]));

it('makes no links of what a user wrote', () => {
  expect(formatBlock('https://example.com/')).not.toContain('<a');
});
