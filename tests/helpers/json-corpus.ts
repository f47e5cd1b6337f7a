/**
 * Texts that are JSON, that are not, and that RFC 8259 leaves open. Written after the facts that the test suite of
 * Nicolas Seriot ("Parsing JSON is a minefield") gathers; the texts and their placing are this project's own.
 */

/** RFC 8259 says that these are JSON. */
// oxfmt-ignore
export const VALID = [
  'null', 'true', 'false', '""', '"a"', '[]', '{}', '[ ]', '[[]]', '[{}]', '{"":0}', '0', '-0', '1',
  '0.1', '-0.1', '1e1', '1E+2', '1E-2', '0e0', '-1.5E-10', '123.456e78', '1e007', '9007199254740993',
  '18446744073709551616', '[null,1,"1",{}]', '[ 1 , 2 ]', '[[[[[]]]]]', '{ "a" : 1 }',
  '{"a":{"b":{"c":{}}}}', '{"a":1,"a":2}', '{"__proto__":1}', '{"constructor":{"prototype":{}}}',
  '{"toString":1,"valueOf":2}', '{"0":1,"1":2}', String.raw`"\""`, String.raw`"\\"`, String.raw`"\/"`,
  String.raw`"\b\f\n\r\t"`, String.raw`"\u0000"`, String.raw`"\ud83d\ude00"`, String.raw`"\uD834\uDd1e"`,
  String.raw`"\u005C\u0022"`, String.raw`"\\\\"`, String.raw`{"\u0061":1}`, '"\u007F"', '"\u2028"',
  '"\uFFFF"', '"\uFEFF"', '"e\u0301"', '"😀"', '"\u{10FFFF}"', '"/*"', '"[]{}:,"', '"\u202E"', '\t1',
  '1\n', '\r\n\t [ \r\n\t ] \r\n\t',
] as const;

/** RFC 8259 says that these are not. */
// oxfmt-ignore
export const INVALID = [
  '', ' ', '\u00A0', '\u200B', '\f', '\v', '\0', '\u0085', '\u2028', 'nul', 'nulll', 'NULL', 'True',
  'undefined', 'NaN', 'Infinity', '-Infinity', '+1', '--1', '- 1', '01', '-01', '0x1', '0b1', '1_000',
  '1,000', '.1', '1.', '.e1', '1e', '1e+', '1e+-2', '1e1.5', '1.2.3', '1n', '-', 'e1', '１', '1+2', '"',
  "'", '"a', '"a"b', "'a'", '`a`', '“a”', '"a\nb"', '"a\tb"', '"\0"', '"\u001F"', String.raw`"\"`,
  String.raw`"\a"`, String.raw`"\x41"`, String.raw`"\0"`, String.raw`"\u"`, String.raw`"\u004"`,
  String.raw`"\u00G0"`, String.raw`"\u{41}"`, String.raw`"\ud83d\u"`, String.raw`"\\\"`, '"\\é"', '[',
  ']', '[1', '1]', '[1,]', '[,1]', '[,]', '[1,,2]', '[1 2]', '[1:2]', '[[]', '[]]', '[1}', '[...]',
  '[\u00A0]', '[a]', '[][]', '{', '}', '{]', '{"a"', '{"a":', '{"a":1,}', '{,"a":1}', '{"a"}', '{"a" 1}',
  '{"a"=1}', '{"a"::1}', '{"a":1;"b":2}', '{"a":1 "b":2}', '{a:1}', "{'a':1}", '{1:1}', '{[]:1}', '{{}}',
  '{"a":1}}', '{:1}', '{"a":1}{"b":2}', '{"a":[}]', '/**/1', '1//', '#1', '[1,/**/2]', '1 2', '1,2',
  '[1],[2]', '(1)', ")]}',\n1", 'new Date()', '<a/>', 'a: 1', '1;', '\\u0031', '\uFEFF1', '1\uFEFF',
  '1\0',
] as const;

/** RFC 8259 leaves these open; JSON.parse accepts them. They are harmless as the value of a field that is ignored. */
// oxfmt-ignore
export const OPEN = [
  '1e400', '-1e400', '1e-400', '0.4e99999999999999999999999999999999999999', `1${'0'.repeat(400)}`,
  `0.${'1'.repeat(400)}`, String.raw`"\ud800"`, String.raw`"\udfff"`, String.raw`"\ude00\ud83d"`,
  String.raw`"\ud800\ud800"`, String.raw`"\ud83dx"`, String.raw`{"\ud800":1}`,
  `${'['.repeat(500)}${']'.repeat(500)}`, `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`,
] as const;

/** Bytes that are not UTF-8, to stand inside a JSON string. RFC 3629, section 4 */
export const NOT_UTF8: readonly [name: string, bytes: readonly number[]][] = [
  ['a lone continuation byte', [0x80]],
  ['a lead byte without its continuation', [0xc3]],
  ['an overlong slash of two bytes', [0xc0, 0xaf]],
  ['an overlong slash of four bytes', [0xf0, 0x80, 0x80, 0xaf]],
  ['an overlong quotation mark', [0xc0, 0xa2]],
  ['a high surrogate', [0xed, 0xa0, 0x80]],
  ['a surrogate pair (CESU-8)', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['a sequence of five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ['FF', [0xff]],
  ['three bytes cut to two', [0xe2, 0x82]],
  ['four bytes cut to three', [0xf0, 0x9f, 0x98]],
  ['a lead byte and a quotation mark', [0xe2, 0x22]],
  ['Latin-1', [0xe9]],
  ['Shift JIS', [0x83, 0x65]],
];

/** Strings that software has stumbled over, beside those of the Big List of Naughty Strings. */
// oxfmt-ignore
export const NAUGHTY = [
  '\uFEFF', '\uFEFFa', 'a\uFEFF', '\u200B', '\u202E\u2067x\u2069', '\u0301', 'e\u0301', '\u00e9', '\uFB01', '\u212B',
  '\u00c5', '\u1E9E\u00DF', '\u0130i\u0131I', '👩‍👩‍👧‍👦', '🏳️‍🌈', '🇦🇧', '👍🏿', '\u{1D173}', '\u{E0001}\u{E007F}', '𝒳', '☃️', '☃︎',
  `e${'\u0301'.repeat(500)}`, '{"S":"x"}', '[]', 'null', '"', '\\', '\\u0000', '\\\\"', '${email}', '$inquiry_1#id_', ':pk',
  '#pk', '$set', '__proto__', '\r\n', '\n\r', ' ', '  a  ', '\t\t', '\u00A0', '\u3000', '\u2028', '\u2029', '\u0085', '%00',
  '%', '&amp;', '<script>',
] as const;
