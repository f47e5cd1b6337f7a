import { expect, it } from 'vitest';
import { findHits, fold, foldWithPositions, isFound, parseQuery } from '../../text/search-text.ts';

it.each([
  ['größe', ['GRÖSSE', 'grosse', 'GROESSE', 'gro\u0308ße', 'GRÖẞE']],
  ['Äpfel', ['aepfel', 'APFEL', 'äpfel']],
  ['smørrebrød', ['SMORREBROD']],
  ['Łódź', ['lodz']],
  ['first office', ['ﬁrst oﬃce', 'ＦＩＲＳＴ ＯＦＦＩＣＥ']],
  ['istanbul', ['İstanbul', 'ISTANBUL', 'ıstanbul']],
  ['ΟΔΟΣ', ['οδός', 'οδοσ']],
  ['أحمد', ['احمد', 'أَحْمَد', 'ﺃﺣﻤﺪ', 'أحـمد']],
  ['فاتورة', ['فاتوره', 'ﻓﺎﺗﻮﺭﺓ']],
  ['على', ['علي', 'علی']],
  ['كتاب', ['کتاب']],
  ['שלום', ['שָׁלוֹם']],
  ['ガラス', ['がらす', 'ｶﾞﾗｽ']],
  ["it's", ['it’s', 'it‘s', 'itʼs', 'it´s', 'it′s']],
  ['"so"', ['“so”', '„so“', '«so»', '״so״', '＂so＂']],
  [
    '2026-11-20',
    ['2026–11—20', '2026‐11‑20', '2026−11－20', '٢٠٢٦-١١-٢٠', '२०२६-११-२०', '２０２６-11-20'],
  ],
  ['invoice', ['in\u00ADvoice', 'in\u200Bvoice', '\u2068invoice\u2069', 'in\u2060voice\uFE0F']],
  ['می\u200Cخواهم', ['میخواهم']],
  ['wait...', ['wait…']],
])('%s is found as each of %j', (text, others) => {
  for (const other of others) expect([other, fold(other)]).toEqual([other, fold(text)]);
});

it('distinguishes texts that only look alike', () => {
  expect(fold('かき')).not.toBe(fold('がき'));
  expect(fold('قلب')).not.toBe(fold('كلب'));
});

it.each(['Die Größe, GROESSE', 'ﬁrst ẞ', 'İ😀ｶﾞ', 'أَحـمد', 'שָׁלוֹם', 'in\u00ADvoice ٢٠ «´»'])(
  'knows where each unit of %s comes from',
  (text) => {
    const { folded, positions } = foldWithPositions(text);
    expect(folded).toBe(fold(text));
    expect(positions).toHaveLength(folded.length + 1);
    expect(positions.at(-1)).toBe(text.length);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  },
);

it.each([
  ['Reference 01a20ae8-9ebe', ['01a20ae8-9ebe']],
  ['#01A1415C-9C4C', ['01a1415c-9c4c']],
  ['受付番号 01a1415c9c4c', ['01a1415c9c4c']],
  ['  big\tLamp ', ['big', 'lamp']],
  ['#lamp', ['#lamp']],
  ['Ref: 01a20ae8-9ebe….', ['01a20ae8-9ebe']],
  ['(Ref. ‘01a20ae8–9ebe’).', ['01a20ae8-9ebe']],
  ['01a20ae8,', ['01a20ae8']],
  ['a \u200B b', ['a', 'b']],
  ['<Ana@b.example>', ['ana@b.example']],
  ['mailto:ana@b.example, <x', ['ana@b.example', '<x']],
  [' ', []],
])('%j has the terms %j', (query, terms) => expect(parseQuery(query)).toEqual(terms));

it('takes 8 hexadecimal digits or more for the beginning of an id', () => {
  const id = '01a1415c-9c4c-7001-8002-000000000003';
  const terms = ['01a1415c', '01a1415c9c4c', id, '01a1415', '9c4c', '01a1415d'];
  expect(terms.filter((term) => isFound(term, '', id))).toEqual(terms.slice(0, 3));
});

it.each([
  ['+491701234567', 'call +49 (170) 123-4567.', '49 (170) 123-4567'],
  ['170/1234567', '(170) 123 45 67', '170) 123 45 67'],
  ['DE89370400440532013000', 'IBAN DE89 3704 0044 0532 0130 00', 'DE89 3704 0044 0532 0130 00'],
  ['GB29NWBK60161331926819', 'GB29 NWBK 6016 1331 9268 19', 'GB29 NWBK 6016 1331 9268 19'],
  ['2026-11-20', 'on 2026/11/20', '2026/11/20'],
  ['12345', '123-45', undefined],
  ['123456', '123 then 456', undefined],
  ['a.c', 'abc', undefined],
])('the number %s is found in %j as %j, whatever its separators', (query, text, found) => {
  const [term = ''] = parseQuery(query);
  expect(isFound(term, fold(text), '')).toBe(found !== undefined);
  const [hits = []] = findHits(query, text);
  expect(hits.map(([start, end]) => text.slice(start, end))).toEqual(found ? [found] : []);
});
