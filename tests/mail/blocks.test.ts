import { expect, it } from 'vitest';
import {
  formatButton,
  formatFacts,
  formatLinkedLines,
  formatMessage,
  formatQuote,
} from '../../mail/blocks.ts';

const LONG_ADDRESS = `https://a.example/${'a'.repeat(90)}`;
const TEXTS = [
  'a '.repeat(40),
  `a ${'b'.repeat(90)} c`,
  `see ${LONG_ADDRESS} b`,
  'a\n\n  b  c\td',
  '1. مرحبا\n\nAna Beck, Example Ltd.',
  '(http://example.com/?a=1&b=2#c!)',
  'https://example.com/"onmouseover="alert(1)',
  'انظر https://example.com/a، شكرا',
  'https://a.example/wiki/東京 https://a.example/café.',
  '(see https://a.example/Bracket_(mathematics)).',
  '„https://a.example/“ «https://a.example/x»',
  '「https://a.example/wiki/日本」をhttps://a.example/b。',
  '**https://a.example/a** https://a.example/?q=[1]&r…',
  'https://a.example/faqをご覧 https://a.example/をご覧 https://a.example/1에서',
  'https://a.example/a\u200Bb https://a.example/%',
  'javascript:alert(1) data:text/html,x ftp://example.com',
  'https://bank.example@evil.example/ https://bank.example\\@evil.example',
  'https://exämple.com https://EXAMPLE.com/../x xhttps://example.com https://',
  ' https://a.example/ is\n here',
];

it('texts and buttons are as in golden, with a mark where a mail program would break a line', async () => {
  const shown = TEXTS.flatMap((text) => {
    const message = formatMessage(text, formatLinkedLines);
    return [formatQuote([message]).text, message.html];
  });
  for (const color of ['#0b7a75', '#ffd400']) {
    const { text, html } = formatButton('View', 'https://a.example/?a&b', color);
    shown.push(text, html);
  }
  expect(shown.join('\n\n')).toMatchSnapshot();
});

it.each(['\n', '\r', '\u2028', '\v', '\u0085\n'])('a fact with %j is one line', (end) => {
  const { text, html } = formatFacts([['Phone', `1${end}From olga@example.com\u202Ex\u200B`]]);
  expect(text).toBe('Phone 1 From olga@example.comx\\u200b');
  expect(html).toContain('>1 From olga@example.comx\\u200b<');
});

it.each(TEXTS)('an address in %j is a link as a whole, or none', (text) => {
  const links = Array.from(
    formatLinkedLines(text).matchAll(/<a href="([^"]*)"[^>]*>([^<]*)/g),
    ([, href = '', address]) => [decodeURI(href.replace(/%$/, '%25')), address],
  );
  const isWeb = expect.stringMatching(/^https?:/) as string;
  expect(links).toEqual(links.map(([, address]) => [address, isWeb]));
});
