import { expect, it } from 'vitest';
import { formatLinkedLines, formatMessage, formatQuote } from '../../src/mailer/parts.ts';

it.each([
  ['a '.repeat(40), `| ${'a '.repeat(36).trim()}\n| a a a a`],
  [
    `see https://a.example/${'a'.repeat(90)} b`,
    `| see\n| https://a.example/${'a'.repeat(90)}\n| b`,
  ],
  ['a\n\n b', '| a\n|\n|  b'],
])('marks each line of %j, and breaks it where a mail program would', (text, marked) =>
  expect(formatQuote([formatMessage(text)]).text).toBe(marked),
);

it.each([
  ['a\n\n  b  c\td', 'ltr', 'left', 'a<br>\n<br>\n&#160; b&#160; c&#160;&#160;&#160; d'],
  ['1. مرحبا\n\nAna Beck, Example Ltd.', 'rtl', 'right', '1. '],
])(
  'has lines of %j that Outlook shows, all at the side of the first letter, and no links',
  (text, direction, side, lines) => {
    const { html } = formatMessage(text);
    expect(html).toMatch(new RegExp(`^<div dir="${direction}" style="text-align:${side};`));
    expect(html).toContain(`>${lines}`);
  },
);

it.each([
  ['(http://example.com/?a=1&b=2#c!)', ['http://example.com/?a=1&#38;b=2#c']],
  ['https://example.com/"onmouseover="alert(1)', ['https://example.com/']],
  ['انظر https://example.com/a، شكرا', ['https://example.com/a']],
  ['javascript:alert(1) data:text/html,x ftp://example.com', []],
  ['https://bank.example@evil.example/ https://bank.example\\@evil.example', []],
  ['https://exämple.com https://EXAMPLE.com/../x xhttps://example.com https://', []],
])('the links of %j lead where they say', (text, links) => {
  const found = formatLinkedLines(text).matchAll(/<a href="([^"]*)">\1<\/a>/g);
  expect(Array.from(found, ([, address]) => address)).toEqual(links);
});
