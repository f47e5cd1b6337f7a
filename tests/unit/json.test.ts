import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFields, parseJson } from '../../src/json.ts';

const FIELDS = ['subject', 'body'];

/** What `JSON.parse` and the contract make of a text: the fields that are strings, null for what is not. */
function expected(text: string): unknown {
  const json: unknown = JSON.parse(text);
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const fields = Object.entries(json).filter(([name]) => FIELDS.includes(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, typeof value === 'string' ? value : null]));
}

/** The result, or the name of the error. */
function outcome(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    return (error as Error).name;
  }
}

const ours = (text: string): unknown => outcome((long) => parseFields(long, FIELDS), text);
const theirs = (text: string): unknown => outcome(expected, text);

describe('a long text', () => {
  it.each([
    '{}',
    '{"subject":"s","body":"b"}',
    ' \t\n\r{ "subject" : "s" , "body" : "b" } \n',
    '{"subject":"first","subject":"last"}',
    '{"subject":"text","subject":1}',
    '{"subject":1,"subject":"text"}',
    '{"subject":{"subject":"inside"},"body":["body"]}',
    '{"a":{"subject":"deeper"},"body":"b"}',
    '{"a":[{"subject":"deeper"}],"b":{},"c":[],"body":"b"}',
    String.raw`{"\u0073ubj\u0065ct":"s","\u0062ody":"b","bod\u0079\u0020":"no"}`,
    String.raw`{"subject":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\ud800","body":""}`,
    '{"__proto__":{"subject":"s"},"constructor":"c","toString":"t"}',
    '{"subject":"\u007f\u2028\ud800 é 🎈"}',
    '[]',
    '[{"subject":"s"}]',
    '"subject"',
    '""',
    'null',
    'true',
    '-0.5e+10',
    '[[[]],[{}],[[],[]],{"a":[]}]',
    '[0,-0,1,10,1.5,1e5,1E-5,true,false,null]',
  ])('keeps the fields that are asked for: %s', (text) => {
    expect(theirs(text)).not.toBe('SyntaxError');
    expect(ours(text)).toEqual(theirs(text));
  });

  it.each([
    '',
    ' ',
    '{',
    '}',
    '[',
    ']',
    '[}',
    '{]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a":1}}',
    '{"a":1}{',
    '{1:2}',
    '{"a":"b":"c"}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1,,2]',
    '[]]',
    '[[]',
    '[{]}',
    '01',
    '-',
    '+1',
    '1.',
    '.5',
    '1e',
    '0x1',
    'NaN',
    'Infinity',
    'tru',
    'truefalse',
    'True',
    'undefined',
    '"',
    '"a',
    '"\\"',
    String.raw`"\x"`,
    String.raw`"\u12g4"`,
    String.raw`"\u12"`,
    String.raw`"\U0041"`,
    '"\n"',
    '"\u0000"',
    '"\t"',
    '\u00a0{}',
    '\ufeff{}',
    '{}\u0000',
    '/**/{}',
    '{"a":1}//',
  ])('is refused where JSON.parse refuses it: %j', (text) => {
    expect(theirs(text)).toBe('SyntaxError');
    expect(ours(text)).toBe('SyntaxError');
  });

  it('is read as JSON.parse reads it, whatever JSON it is', () => {
    const key = fc.oneof(fc.constantFrom(...FIELDS), fc.string({ unit: 'binary' }));
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'medium' },
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(true, false, null),
        fc.array(tie('json')),
        fc.dictionary(key, tie('json')),
      ),
    }));
    fc.assert(
      fc.property(json, fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(ours(text)).toEqual(theirs(text));
      }),
    );
  });

  it('is read as JSON.parse reads it, whatever a JSON becomes when characters change', () => {
    const valid = '{"subject":"s\\u0041\\n","x":[1.5e-3,{"body":null}],"body":"b" , "y":{}}';
    const characters = '{}[]",:\\ \n\t-+.0123456789eEunfalrtsbodyjc\u0000é\ud800'.split('');
    const character = fc.constantFrom(...characters);
    const change = fc.tuple(fc.nat(valid.length), fc.nat(2), fc.string({ unit: character, maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        let text = valid;
        for (const [start, count, more] of changes) {
          text = text.slice(0, start) + more + text.slice(start + count);
        }
        expect(ours(text)).toEqual(theirs(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('ends with its value: no other character may follow', () => {
    for (let code = 0; code < 0x100; code++) {
      const text = `{"body":"b"}${String.fromCharCode(code)}`;
      expect([code, ours(text)]).toEqual([code, theirs(text)]);
    }
  });
});

describe('a text of any length', () => {
  it('is a tree while it is short', () => {
    expect(parseJson('{"a":[1]}', FIELDS)).toEqual({ a: [1] });
  });

  it.each([
    ['short', 10],
    ['long', 1_000_000],
  ])('gives the same fields: %s', (_, length) => {
    const text = JSON.stringify({
      subject: 's'.repeat(length),
      body: 'b',
      more: Array.from({ length }, () => ({})),
    });
    expect(parseJson(text, FIELDS)).toMatchObject({ subject: 's'.repeat(length), body: 'b' });
    expect(() => parseJson(text.slice(0, -1), FIELDS)).toThrow(SyntaxError);
  });

  it('is read in the memory of the function, however deep it is', () => {
    const depth = 3_000_000;
    expect(parseJson('['.repeat(depth) + ']'.repeat(depth), FIELDS)).toBeNull();
    expect(() => parseJson('['.repeat(2 * depth), FIELDS)).toThrow(SyntaxError);
    expect(() => parseJson('{"a":'.repeat(depth), FIELDS)).toThrow(SyntaxError);
  });
});
