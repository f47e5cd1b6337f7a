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

describe('a body that no storable inquiry can need (docs/adr/0062)', () => {
  const spaces = (count: number): string => ' '.repeat(count);

  it.each([
    ['2,600,000 units', `{}${spaces(2_599_998)}`, {}],
    ['one unit more, not JSON', `{${spaces(2_600_000)}`, 413],
    ['256 KB of brackets', '['.repeat(256 * KB), 500],
    ['one bracket more', '['.repeat(256 * KB + 1), 413],
    ['10,000 brackets', `${'[]'.repeat(5_000)}${spaces(256 * KB)}`, 500],
    ['10,001 brackets at the end', `${spaces(256 * KB)}${'[]'.repeat(5_000)}[`, 413],
    ['brackets after an escaped quote', JSON.stringify('"['.repeat(150_000)), '"['.repeat(150_000)],
    ['brackets after an escaped backslash', `"\\\\"${'['.repeat(256 * KB)}`, 413],
    [
      '400 KB with every byte written as an escape',
      `"${String.raw`\u0041`.repeat(ITEM_LIMIT)}"`,
      'A'.repeat(ITEM_LIMIT),
    ],
  ])('is 413 and not parsed: %s', (_, body, outcome) => {
    const base64 = Buffer.from(body).toString('base64');
    expect(outcomeOf(() => readJson({ body }))).toEqual(outcome);
    expect(outcomeOf(() => readJson({ body: base64, isBase64Encoded: true }))).toEqual(outcome);
  });
});

describe('the header Idempotency-Key', () => {
  const readKey = (header: unknown): unknown =>
    outcomeOf(() => readIdempotencyKey({ headers: { 'idempotency-key': header } }));

  it.each([
    ['!+-~"\\', '!+-~"\\'],
    ['"!#[]~,"', '!#[]~,'],
    [String.raw`"\""`, '"'],
    [String.raw`"\\\""`, String.raw`\"`],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${String.raw`\"`.repeat(255)}"`, '"'.repeat(255)],
  ])('%j is the key %j', (header, key) => expect(readKey(header)).toBe(key));

  it.each([
    ['empty', ['', '""']],
    ['with a space', [' ', 'a ', 'a b', '"a b"', '"a" ']],
    ['repeated, as the gateway joins its values', ['a,', ',a', '"a","b"']],
    ['an unbalanced string', ['"', '"a', '"a"b"', String.raw`"a\"`]],
    ['a string with another escape or parameters', [String.raw`"\a"`, '"a";b']],
    ['too long', ['x'.repeat(256), `"${'x'.repeat(256)}"`, `"${String.raw`\"`.repeat(256)}"`]],
    ['a control character', ['\0', 'a\n', '"a"\n', '"\n"', '\u007f']],
    ['not ASCII', ['é', '"é"', '\ud800', '\u212a']],
    ['not a string', [null, 7, ['a'], { toString: () => 'a' }]],
    // A pattern that backtracks would not end.
    ...['"', String.raw`\"`, 'x'].map((text): [string, unknown[]] => {
      const many = text.repeat(1_000_000);
      return [`a million times ${text}`, [many, `"${many}\n`]];
    }),
  ])('is refused when it is %s', (_, headers) => {
    expect(headers.map(readKey)).toEqual(headers.map(() => 400));
  });

  it.each([undefined, null, 'idempotency-key', {}])('is absent from the headers %j', (headers) =>
    expect(readIdempotencyKey({ headers })).toBeUndefined(),
  );
});

it.each([
  ['pt-BR, FR-CA;q=0.8,en', 'fr'],
  ['deutsch', undefined],
  ['constructor', undefined],
  [['de'], undefined],
])('Accept-Language %j asks for the language %j', (header, language) =>
  expect(readLanguage({ headers: { 'accept-language': header } })).toBe(language),
);

it('Link of a list without a limit has none', () =>
  expect(toLinkHeader({ before: 'x' })).toEqual({ Link: '<?before=x>; rel="next"' }));
