/**
 * Texts that are JSON, that are not, and that RFC 8259 leaves open. Written after the facts that the test suite of
 * Nicolas Seriot ("Parsing JSON is a minefield") gathers; the texts and their placing are this project's own.
 */

/** RFC 8259 says that these are JSON. */
// oxfmt-ignore
export const VALID = [
  'null', 'true', 'false', '""', '" "', '"a"', '[]', '{}', '[ ]', '{ }', '[[]]', '[{}]', '{"a":[]}',
  '{"":0}', '0', '-0', '1', '-1', '10', '123456789', '0.0', '0.1', '-0.1', '1.5', '1e1', '1E1', '1e+1',
  '1e-1', '1E+2', '1E-2', '0e0', '0e+1', '0E-1', '1.5e10', '-1.5E-10', '123e65', '123.456e78', '1e00',
  '1e007', '0.000000000000000000001',
  '9007199254740993', '-9223372036854775808', '18446744073709551616', '3.141592653589793238462643383279',
  '[1]', '[1,2]', '[null,1,"1",{}]', '[ 1 , 2 ]', '[true,false,null]', '[""]', '["a"]', '[[[[[]]]]]',
  '{"a":1}', '{"a":1,"b":2}', '{ "a" : 1 }', '{"a":{"b":{"c":{}}}}', '{"a":1,"a":2}', '{"a":1,"A":2}',
  '{"a":null}', '{"__proto__":1}', '{"constructor":{"prototype":{}}}', '{"toString":1,"valueOf":2}',
  '{"0":1,"1":2}', '{"a b":1}', String.raw`"\""`, String.raw`"\\"`, String.raw`"\/"`,
  String.raw`"\b\f\n\r\t"`, String.raw`"\u0000"`, String.raw`"\u0041"`, String.raw`"\u00e9"`,
  String.raw`"\uFFFF"`, String.raw`"\ud83d\ude00"`, String.raw`"\uD834\uDd1e"`, String.raw`"\\u0041"`,
  String.raw`"\u2028\u2029"`, String.raw`"\u005C\u0022"`, String.raw`"\\\\"`, String.raw`{"\u0061":1}`,
  String.raw`{"\u0000":1}`, '"\u007F"', '"\u0080"', '"\u2028"', '"\u2029"', '"\uFFFF"', '"\uFEFF"', '"é"',
  '"e\u0301"', '"😀"', '"\u{10FFFF}"',
  '"/*"', '"//"', '"\'"', '"[]{}:,"', '"<!-- -->"', '"\u00A0"', '"\u202E"', '"\u200B"',
  '\t1', '\n1', '\r1', ' 1', '1 ', '1\n', '\r\n\t [ \r\n\t ] \r\n\t',
] as const;

/** RFC 8259 says that these are not. */
// oxfmt-ignore
export const INVALID = [
  '', ' ', '\t', '\n', '\u00A0', '\u200B', '\u2060', '\f', '\v', '\0', '\u3000', '\u180E', '\u0085',
  '\u2028', 'nul', 'nulll', 'Null', 'NULL', 'tru', 'True', 'TRUE', 'truth', 'fals', 'False', 'undefined',
  'NaN', 'Infinity', '-Infinity', '+Infinity', 'Inf', 'None', 'nil', '+1', '++1', '--1', '- 1', '01', '-01',
  '00', '-00', '0x1', '0X1f', '0o7', '0b1', '1_000', '1 000', '1,000', '.1', '-.1', '1.', '-1.', '1.e1',
  '.e1', '1e', '1e+', '1e-', '1eE2', '1e+-2', '1e1.5', '1e 1', '1 e1', '1.2.3', '1a', '1n', '1f', '0.1.2',
  '0e', '0e+', '-', '+', '.', 'e', 'e1', '1/2', '²', '１', '-foo', '-e1', '1+2', '0x', '1\u00B5', '"', "'",
  '"a', 'a"', '"a"b', '"a""b"', "'a'", '`a`', '“a”', '"a\nb"', '"a\rb"', '"a\tb"', '"\0"', '"\u0001"',
  '"\u001F"', '"a\u0000b"', String.raw`"\"`, String.raw`"\a"`, String.raw`"\x41"`, String.raw`"\0"`,
  String.raw`"\'"`, String.raw`"\u"`, String.raw`"\u0"`, String.raw`"\u00"`, String.raw`"\u004"`,
  String.raw`"\u00G0"`, String.raw`"\U0041"`, String.raw`"\u{41}"`, String.raw`"\u 041"`,
  String.raw`"\ud83d\u"`, String.raw`"\ud83d\u1"`, String.raw`"\\\"`, '"\\\n"', '"\\é"', '"\\😀"',
  '"\\\u0000"', '[', ']', '[1', '1]', '[1,', '[1,]', '[,1]', '[,]', '[1,,2]', '[1 2]', '[1;2]', '[1:2]',
  '[[]', '[]]', '[1}', '[(1)]', '[...]', '[*]', '[\v]', '[\u00A0]', '[a]', "['a']", '[#]', '[1,\n', '[""',
  '["a"', '["a",', '[{}', '[-]', '[true', '[1]x', '[][]', '{', '}', '{]', '{"a"', '{"a":', '{"a":1',
  '{"a":1,', '{"a":1,}', '{,"a":1}', '{,}', '{"a"}', '{"a",}', '{"a" 1}', '{"a"=1}', '{"a"=>1}', '{"a"::1}',
  '{"a":1,,"b":2}', '{"a":1 "b":2}', '{"a":1;"b":2}', '{a:1}', "{'a':1}", '{1:1}', '{null:1}', '{[]:1}',
  '{"a":"b"]', '{"a":1}}', '{{}}', '{"a":{}', '{"a":1,"b"}', '{"a":1,"b":}', '{:1}', '{"a":1}{"b":2}',
  '{"a":1}x', '{...a}', '{"a":a}', '{"a":[}]', '/**/1', '1/**/', '1//', '//1\n', '#1', '<!-- 1 -->',
  '[1,/**/2]', '{"a":/**/1}', '{/**/"a":1}', '1 2', '"a" "b"', '1,2', 'true false', '[1],[2]', '{},{}',
  '(1)', ")]}',\n1", 'while(1);1', 'a=1', 'new Date()', 'function(){}', '/a/', '<a/>', '---\na: 1', 'a: 1',
  '!!1', '$', '@', '%', '&', '*', '1;', '\\u0031', '\uFEFF1', '1\uFEFF', '1\0', '\u00001', '\u{1F600}',
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
  ['the last continuation byte', [0xbf]],
  ['a lead byte without its continuation', [0xc3]],
  ['two lead bytes', [0xc3, 0xc3]],
  ['an overlong slash of two bytes', [0xc0, 0xaf]],
  ['an overlong slash of three bytes', [0xe0, 0x80, 0xaf]],
  ['an overlong slash of four bytes', [0xf0, 0x80, 0x80, 0xaf]],
  ['an overlong NUL', [0xc0, 0x80]],
  ['an overlong quotation mark', [0xc0, 0xa2]],
  ['a high surrogate', [0xed, 0xa0, 0x80]],
  ['a low surrogate', [0xed, 0xbf, 0xbf]],
  ['a surrogate pair (CESU-8)', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['a sequence of five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ['a sequence of six bytes', [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80]],
  ['FE', [0xfe]],
  ['FF', [0xff]],
  ['three bytes cut to two', [0xe2, 0x82]],
  ['four bytes cut to three', [0xf0, 0x9f, 0x98]],
  ['a lead byte and a quotation mark', [0xe2, 0x22]],
  ['Latin-1', [0xe9]],
  ['Windows-1252', [0x93, 0x94]],
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
