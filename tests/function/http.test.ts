import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { readIdempotencyKey, readJson, readLanguage, toLinkHeader } from '../../src/http.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';

const KB = 1024;

/** What a function returns, or the status that it throws. */
function outcomeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}
const read = (body: string, isBase64Encoded = false): unknown => {
  const sent = isBase64Encoded ? Buffer.from(body).toString('base64') : body;
  return outcomeOf(() => readJson({ body: sent, isBase64Encoded }));
};

describe('a body that no storable inquiry can need (docs/adr/0062)', () => {
  const spaces = (count: number): string => ' '.repeat(count);

  it.each([
    ['2,600,000 units', `{}${spaces(2_599_998)}`, {}],
    ['one unit more', `{}${spaces(2_599_999)}`, 413],
    ['one unit more, not JSON', `{${spaces(2_600_000)}`, 413],
    ['256 KB of brackets', '['.repeat(256 * KB), 500],
    ['256 KB of brackets and one', '['.repeat(256 * KB + 1), 413],
    ['10,000 brackets', `${'[]'.repeat(5_000)}${spaces(256 * KB)}`, 500],
    ['10,001 brackets', `${'[]'.repeat(5_000)}[${spaces(256 * KB)}`, 413],
    ['10,001 brackets at the end', `${spaces(256 * KB)}${'[]'.repeat(5_000)}[`, 413],
    ['brackets in a string', JSON.stringify('{}[],:'.repeat(50_000)), '{}[],:'.repeat(50_000)],
    ['brackets after an escaped quote', JSON.stringify('"['.repeat(150_000)), '"['.repeat(150_000)],
    ['brackets in a string that does not end', `"${'['.repeat(256 * KB)}`, 500],
    ['brackets after an escaped backslash', `"\\\\"${'['.repeat(256 * KB)}`, 413],
  ])('is 413 and not parsed: %s', (_, body, outcome) => {
    expect(read(body)).toEqual(outcome);
    expect(read(body, true)).toEqual(outcome);
  });

  it('is never one with a storable inquiry, even if every byte of 400 KB is written as an escape', () => {
    const text = String.raw`\u0041`.repeat(ITEM_LIMIT);
    expect(read(`{"subject":"","body":"${text}"}`)).toEqual({
      subject: '',
      body: 'A'.repeat(ITEM_LIMIT),
    });
  });
});

describe('the header Idempotency-Key', () => {
  const readKey = (header: unknown): unknown =>
    outcomeOf(() => readIdempotencyKey({ headers: { 'idempotency-key': header } }));

  it.each([
    ['a', 'a'],
    ['"a"', 'a'],
    ['!~', '!~'],
    ['"!#[]~"', '!#[]~'],
    ['+-', '+-'],
    [`a"'\\`, `a"'\\`],
    [String.raw`\"`, String.raw`\"`],
    ['"a,b"', 'a,b'],
    ['","', ','],
    [String.raw`"\""`, '"'],
    [String.raw`"\\"`, '\\'],
    [String.raw`"\\\""`, String.raw`\"`],
    ['__proto__', '__proto__'],
    ['"constructor"', 'constructor'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    [`"${String.raw`\"`.repeat(255)}"`, '"'.repeat(255)],
  ])('%j is the key %j', (header, key) => {
    expect(readKey(header)).toBe(key);
  });

  it.each([
    ['empty', ['', '""']],
    ['blank or with a space', [' ', '" "', ' a', 'a ', 'a b', '"a b"', ' "a"', '"a" ']],
    [
      'repeated, as the gateway joins its values',
      ['a,b', 'a,', ',a', ',', '"a","b"', '"a",b', 'a, b'],
    ],
    [
      'an unbalanced string',
      ['"', '"a', '"""', '"a"b"', '"a""b"', String.raw`"a\"`, String.raw`"\\\"`],
    ],
    ['a string with another escape', [String.raw`"\a"`, String.raw`"\n"`, String.raw`"\u0041"`]],
    ['a string with parameters', ['"a";b', '"a"; b=1']],
    ['too long', ['x'.repeat(256), `"${'x'.repeat(256)}"`, `"${String.raw`\"`.repeat(256)}"`]],
    [
      'a control character',
      ['\0', 'a\0', '\t', 'a\n', 'a\r\n', '"a"\n', '"\n"', '\u001f', '\u007f'],
    ],
    ['not ASCII', ['é', '"é"', '\u0080', '😀', '\ud800', '\u212a', '\u2028', 'a\u200b', '＂a＂']],
    [
      'not a string',
      [null, true, 7, Number.NaN, [], ['a'], {}, { toString: () => 'a' }, Buffer.from('a')],
    ],
    // A pattern that backtracks would not end.
    ...['"', '\\', String.raw`\"`, ',', 'x'].map((text): [string, unknown[]] => {
      const many = text.repeat(1_000_000);
      return [`a million times ${text}`, [many, `"${many}`, `"${many}\n`, `${many}"`]];
    }),
  ])('is refused when it is %s', (_, headers) => {
    expect(headers.map(readKey)).toEqual(headers.map(() => 400));
  });

  const inherited: unknown = JSON.parse('{"__proto__":{"idempotency-key":"a"}}');
  it.each([
    undefined,
    null,
    {},
    [],
    'idempotency-key',
    7,
    { 'idempotency-key': undefined },
    inherited,
  ])('is absent from the headers %j', (headers) =>
    expect(readIdempotencyKey({ headers })).toBeUndefined(),
  );
});

it.each([
  ['de', 'de'],
  ['ja-JP,en;q=0.5', 'ja'],
  ['pt-BR, FR-CA;q=0.8', 'fr'],
  ['*', undefined],
  ['', undefined],
  ['deutsch', undefined],
  ['constructor', undefined],
  [['de'], undefined],
  [undefined, undefined],
])('Accept-Language %j asks for the language %j', (header, language) => {
  expect(readLanguage({ headers: { 'accept-language': header } })).toBe(language);
});

it('Link of a list without a limit has none', () => {
  expect(toLinkHeader({ before: 'x' })).toEqual({ Link: '<?before=x>; rel="next"' });
});
