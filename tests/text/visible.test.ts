import { expect, it } from 'vitest';
import { cut, escapeHtml, toOneLine, toPlainLine, toVisible } from '../../src/text/visible.ts';

it.each([
  ['letters, tabs, emoji', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا'],
  ['line breaks', 'a\r\nb\rc\nd\u0085e\u2028f\u2029g', 'a\nb\nc\nd\ne\nf\ng'],
  ['C0 controls', '\0\x07\x08\x0B\x0C\x1B[31m\x7F', '␀␇␈␋␌␛[31m␡'],
  ['C1 controls, embeddings', '\x80\x9B31m\x9F\u202A\u2069', '\uFFFD\uFFFD31m\uFFFD\uFFFD\uFFFD'],
  ['bidirectional marks', 'a\u200E\u200F\u061Cb', 'ab'],
  ['lone surrogates', 'a\uD83D\uDE00b\uD83Dc\uDE00', 'a😀b\uFFFDc\uFFFD'],
])('%s in a visible text', (_, text, visible) => expect(toVisible(text)).toBe(visible));

it.each([
  ['has single spaces and is not cut when it fits', ' a \r\n\t b\u2028c ', 5, 'a b c'],
  ['is cut with an ellipsis', '123456', 5, '1234…'],
  ['begins where the text does', `${' '.repeat(100)}a`, 5, 'a'],
  ['says that more follows many spaces', `a${' '.repeat(100)}b`, 5, 'a…'],
])('one line %s', (_, text, limit, line) => expect(toOneLine(text, limit)).toBe(line));

it.each([
  ['a pair of surrogates', 'ab😀'],
  ['joined emoji', 'ab\u200Dc'],
])('cuts no half of %s', (_, text) => expect(cut(text, 3)).toBe('ab'));

it('a line for operators keeps its limit when it shows what is invisible', () =>
  expect(toPlainLine('\u200B'.repeat(50), 50)).toHaveLength(50));

it('escapes what HTML means', () => expect(escapeHtml(`<"'>&`)).toBe('&#60;&#34;&#39;&#62;&#38;'));
