import { expect, it } from 'vitest';
import { cut, escapeHtml, toOneLine, toPlainLine, toVisible } from '../../src/mailer/text.ts';

it.each([
  ['keeps letters, tabs and emoji', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا'],
  ['has \\n for every line break', 'a\r\nb\rc\nd\u0085e\u2028f\u2029g', 'a\nb\nc\nd\ne\nf\ng'],
  ['has symbols for C0 controls', '\0\x07\x08\x0B\x0C\x1B[31m\x7F', '␀␇␈␋␌␛[31m␡'],
  ['has U+FFFD for C1 controls', '\x80\x9B31m\x9F', '\uFFFD\uFFFD31m\uFFFD'],
  ['has U+FFFD for embeddings', '\u202A\u202E\u2066\u2069', '\uFFFD'.repeat(4)],
  ['has no bidirectional marks', 'a\u200E\u200F\u061Cb', 'ab'],
  ['has U+FFFD for lone surrogates', 'a\uD83D\uDE00b\uD83Dc\uDE00', 'a😀b\uFFFDc\uFFFD'],
])('a visible text %s', (_, text, visible) => expect(toVisible(text)).toBe(visible));

it.each([
  ['has single spaces and is not cut when it fits', ' a \r\n\t b\u2028c ', 5, 'a b c'],
  ['is cut with an ellipsis', '123456', 5, '1234…'],
  ['holds no encoded word', '=?utf-8?B?DQo=?=', 50, '= ?utf-8?B?DQo= ?='],
  ['begins where the text does', `${' '.repeat(100)}a`, 5, 'a'],
  ['says that more follows many spaces', `a${' '.repeat(100)}b`, 5, 'a…'],
])('one line %s', (_, text, limit, line) => expect(toOneLine(text, limit)).toBe(line));

it.each([
  ['a text that fits', 'abc', 'abc'],
  ['a pair of surrogates', 'ab😀', 'ab'],
  ['joined emoji', 'ab\u200Dc', 'ab'],
])('cuts no half of %s', (_, text, beginning) => expect(cut(text, 3)).toBe(beginning));

it('a line for operators keeps its limit when it shows what is invisible', () =>
  expect(toPlainLine('\u200B'.repeat(50), 50)).toHaveLength(50));

it('escapes what HTML means', () =>
  expect(escapeHtml(`<a href="x" id='y'>&`)).toBe(
    '&#60;a href=&#34;x&#34; id=&#39;y&#39;&#62;&#38;',
  ));
