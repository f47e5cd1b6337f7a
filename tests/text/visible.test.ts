import { expect, it } from 'vitest';
import { cut, escapeHtml, isBlank, escapeText, toOneLine, toVisible } from '../../text/visible.ts';

it.each([
  ['letters, tabs, emoji', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا', 'a\tß\u00A0漢 👩‍👩‍👧 مرحبا'],
  ['joiners and variants', '1️⃣ 葛\u{E0100} क्‍ष می‌خواهم', '1️⃣ 葛\u{E0100} क्‍ष می‌خواهم'],
  ['line ends', 'a\r\nb\rc\nd\u0085e\u2028f\u2029g\vh\fi', 'a\nb\nc\nd\ne\nf\ng\nh\ni'],
  ['a pasted number and name', '\u202A+49 170 123\u202C \u2068Ana\u2069\u200E', '+49 170 123 Ana'],
  ['overrides', 'a\u202Egnp.exe\u202D\u061C', 'agnp.exe'],
  ['lone surrogates', 'a\uD83D\uDE00b\uD83Dc\uDE00', 'a😀b\uFFFDc\uFFFD'],
])('shows %s alike to owners and operators', (_, text, visible) => {
  expect(toVisible(text)).toBe(visible);
  expect(escapeText(text)).toBe(visible);
});

it.each([
  ['controls', '\0\x07\x1B[31m\x7F\x9B', '[31m', String.raw`\u0000\u0007\u001b[31m\u007f\u009b`],
  ['invisible characters', 'a\u200Bb\u200Dc', 'a\u200Bb\u200Dc', String.raw`a\u200bb\u200dc`],
])('shows %s as escapes to operators alone', (_, text, toOwners, toOperators) => {
  expect(toVisible(text)).toBe(toOwners);
  expect(escapeText(text)).toBe(toOperators);
});

it.each(['', ' \n\u3000', '\u200B\uFEFF', '\u202E\u0000', '\u2800\u3164'])(
  '%j is blank',
  (text) => {
    expect(isBlank(text)).toBe(true);
    expect(isBlank(`${text}.`)).toBe(false);
  },
);

it.each([
  ['has single spaces and is not cut when it fits', ' a \r\n\t b\u2028c ', 5, 'a b c'],
  ['is cut with an ellipsis', '123456', 5, '1234…'],
  ['begins where the text does', `${' '.repeat(100)}a`, 5, 'a'],
  ['says that more follows many spaces', `a${' '.repeat(100)}b`, 5, 'a…'],
])('one line %s', (_, text, limit, line) => expect(toOneLine(text, limit)).toBe(line));

it.each([
  ['a pair of surrogates', 'ab😀'],
  ['joined emoji', 'ab\u200Dc'],
])('does not cut %s in half', (_, text) => expect(cut(text, 3)).toBe('ab'));

it('a line for operators keeps its limit when it shows invisible characters', () =>
  expect(toOneLine('\u200B'.repeat(50), 50, escapeText)).toHaveLength(50));

it('escapes characters that have a meaning in HTML', () =>
  expect(escapeHtml(`<"'>&`)).toBe('&#60;&#34;&#39;&#62;&#38;'));
