import { expect, it } from 'vitest';
import {
  formatButton,
  formatLinkedLines,
  formatMessage,
  formatQuote,
} from '../../src/mailer/parts.ts';

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
  [
    'https://a.example/wiki/東京 https://a.example/café.',
    ['https://a.example/wiki/東京', 'https://a.example/café'],
  ],
  ['(see https://a.example/Bracket_(mathematics)).', ['https://a.example/Bracket_(mathematics)']],
  ['„https://a.example/“ «https://a.example/x»', ['https://a.example/', 'https://a.example/x']],
  [
    '「https://a.example/wiki/日本」をhttps://a.example/b。',
    ['https://a.example/wiki/日本', 'https://a.example/b'],
  ],
  [
    '**https://a.example/a** https://a.example/?q=[1]&r…',
    ['https://a.example/a', 'https://a.example/?q=[1]&#38;r'],
  ],
  ['https://a.example/faqをご覧 https://a.example/をご覧 https://a.example/1에서', []],
  ['https://a.example/a\u200Bb https://a.example/%', ['https://a.example/%']],
  ['javascript:alert(1) data:text/html,x ftp://example.com', []],
  ['https://bank.example@evil.example/ https://bank.example\\@evil.example', []],
  ['https://exämple.com https://EXAMPLE.com/../x xhttps://example.com https://', []],
])('an address in %j is a link as a whole, or none', (text, links) => {
  const found = Array.from(
    formatLinkedLines(text).matchAll(/<a href="([!-~]*)" dir="ltr">([^<]*)<\/a>/g),
    ([, href = '', address = '']) => [
      decodeURI(href.replace('%"', '%25"').replace(/%$/, '%25')),
      address,
    ],
  );
  expect(found).toEqual(links.map((address) => [address, address]));
});

it('a line may end after a link, and begins with the spaces that it has', () =>
  expect(formatLinkedLines(' https://a.example/ is\n here')).toBe(
    '&#160;<a href="https://a.example/" dir="ltr">https://a.example/</a> is<br>\n&#160;here',
  ));

it.each([
  ['#0b7a75', '#ffffff'],
  ['#ffd400', '#000000'],
])('the text of a button of %s is %s', (color, text) =>
  expect(formatButton('View', 'https://a.example/?a&b', color)).toEqual({
    text: 'View https://a.example/?a&b',
    html: expect.stringMatching(
      new RegExp(
        `<td style="padding:12px 20px;[^"]*background-color:${color};.*?"https://a.example/\\?a&#38;b"[^>]*color:${text};`,
      ),
    ),
  }),
);
