import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { readIdempotencyKey, readJson, toLinkHeader } from '../../src/http.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';

const KB = 1024;

/** What `readJson` returns, or the status that it throws. */
function read(body: string, isBase64Encoded = false): unknown {
  try {
    return readJson({ body: isBase64Encoded ? Buffer.from(body).toString('base64') : body, isBase64Encoded });
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

/** What the rule says (docs/adr/0062), written differently: strings are removed, then characters are counted. */
function expected(body: string): unknown {
  const structure = body.replaceAll(/"(?:[^"\\]|\\[^])*(?:"|$)/g, '').match(/[{}[\],:]/g) ?? [];
  if (body.length > 2_600_000 || (body.length > 256 * KB && structure.length > 10_000)) return 413;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return 500;
  }
}

describe('a body that no storable inquiry can need', () => {
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
    ['brackets after an escaped backslash', `"\\\\"${'['.repeat(256 * KB)}`, 413],
  ])('is 413 and not parsed: %s', (_, body, outcome) => {
    expect(read(body)).toEqual(outcome);
    expect(read(body, true)).toEqual(outcome);
  });

  it('is never one with a storable inquiry, even if every byte of 400 KB is written as an escape', () => {
    const text = String.raw`\u0041`.repeat(ITEM_LIMIT);
    expect(read(`{"subject":"","body":"${text}"}`)).toEqual({ subject: '', body: 'A'.repeat(ITEM_LIMIT) });
  });

  it('is found as the rule says, and everything else is what JSON.parse makes of it', () => {
    const json = fc.json({ depthSize: 'large', noUnicodeString: false });
    // One character of the text replaced, which usually makes it something other than JSON.
    const broken = fc
      .tuple(json, fc.nat(), fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', ' ', 'x', '0'))
      .map(([text, at, character]) => {
        const index = at % text.length;
        return text.slice(0, index) + character + text.slice(index + 1);
      });
    // Repeated, so that some have more structural characters than allowed.
    const long = fc
      .tuple(fc.oneof(json, broken), fc.constantFrom(1, 50, 2_000))
      .map(([text, times]) => `[${Array.from({ length: times }, () => text).join()}]${spaces(256 * KB)}`);
    let refused = 0;
    fc.assert(
      fc.property(
        fc.oneof({ weight: 3, arbitrary: json }, { weight: 3, arbitrary: broken }, long),
        (body) => {
          const outcome = expected(body);
          if (outcome === 413) refused++;
          expect(read(body)).toEqual(outcome);
        },
      ),
      { numRuns: 200 },
    );
    expect(refused).toBeGreaterThan(0);
  });
});

describe('the header Idempotency-Key', () => {
  /** What `readIdempotencyKey` returns, or the status that it throws. */
  function readKey(header: unknown): unknown {
    try {
      return readIdempotencyKey({ headers: { 'idempotency-key': header } });
    } catch (error) {
      if (error instanceof ApiError) return error.status;
      throw error;
    }
  }
  /** A key as a string of a structured field. */
  const quote = (key: string): string => `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

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
    ['repeated, as the gateway joins its values', ['a,b', 'a,', ',a', ',', '"a","b"', '"a",b', 'a, b']],
    ['an unbalanced string', ['"', '"a', '"""', '"a"b"', '"a""b"', String.raw`"a\"`, String.raw`"\\\"`]],
    ['a string with another escape', [String.raw`"\a"`, String.raw`"\n"`, String.raw`"\u0041"`]],
    ['a string with parameters', ['"a";b', '"a"; b=1']],
    ['too long', ['x'.repeat(256), `"${'x'.repeat(256)}"`, `"${String.raw`\"`.repeat(256)}"`]],
    ['a control character', ['\0', 'a\0', '\t', 'a\n', 'a\r\n', '"a"\n', '"\n"', '\u001f', '\u007f']],
    ['not ASCII', ['é', '"é"', '\u0080', '😀', '\ud800', '\u212a', '\u2028', 'a\u200b', '＂a＂']],
    ['not a string', [null, true, 7, Number.NaN, [], ['a'], {}, { toString: () => 'a' }, Buffer.from('a')]],
    // A pattern that backtracks would not end.
    ...['"', '\\', String.raw`\"`, ',', 'x'].map((text): [string, unknown[]] => {
      const many = text.repeat(1_000_000);
      return [`a million times ${text}`, [many, `"${many}`, `"${many}\n`, `${many}"`]];
    }),
  ])('is refused when it is %s', (_, headers) => {
    expect(headers.map(readKey)).toEqual(headers.map(() => 400));
  });

  const inherited: unknown = JSON.parse('{"__proto__":{"idempotency-key":"a"}}');
  it.each([undefined, null, {}, [], 'idempotency-key', 7, { 'idempotency-key': undefined }, inherited])(
    'is absent from the headers %j',
    (headers) => expect(readIdempotencyKey({ headers })).toBeUndefined(),
  );

  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code));
  const special = fc.constantFrom('"', '\\', ',', '!', '#', '+', '-', '[', ']', '~');
  const keys = fc.string({ unit: fc.oneof(visible, special), minLength: 1, maxLength: 255 });

  /** What the rule says, written differently: the characters are read one after the other. */
  function readKeyOf(header: string): unknown {
    const isQuoted = header.startsWith('"');
    let key = '';
    let at = isQuoted ? 1 : 0;
    for (; at < header.length; at++) {
      let character = header[at] ?? '';
      if (isQuoted && character === '"') break;
      if (isQuoted && character === '\\') {
        character = header[++at] ?? '';
        if (character !== '"' && character !== '\\') return 400;
      }
      if (!isQuoted && character === ',') return 400;
      if (character <= ' ' || character > '~') return 400;
      key += character;
    }
    const isClosed = isQuoted ? at === header.length - 1 : true;
    return isClosed && key.length >= 1 && key.length <= 255 ? key : 400;
  }

  it('is read as the rule says, whatever it holds', () => {
    const unit = fc.oneof(
      { weight: 6, arbitrary: special },
      visible,
      fc.constantFrom(' ', '\0', '\n', '\u007f', 'é'),
    );
    const long = fc.string({
      unit: fc.oneof({ weight: 99, arbitrary: visible }, special),
      minLength: 250,
      maxLength: 260,
    });
    const text = fc.oneof(fc.string({ unit, maxLength: 8 }), long, keys);
    const quoted = text.map((inner) => `"${inner}"`);
    const counts = { key: 0, refused: 0 };
    fc.assert(
      fc.property(fc.oneof(text, quoted, text.map(quote)), (header) => {
        const outcome = readKeyOf(header);
        counts[outcome === 400 ? 'refused' : 'key']++;
        expect([header, readKey(header)]).toEqual([header, outcome]);
      }),
      { numRuns: 7_000 },
    );
    expect(Math.min(counts.key, counts.refused)).toBeGreaterThan(500);
  });
});

it('Link repeats the limit of a list, if it has one', () => {
  expect(toLinkHeader({ before: 'x' })).toEqual({ Link: '<?before=x>; rel="next"' });
  expect(toLinkHeader({ before: 'x', limit: 5 })).toEqual({ Link: '<?before=x&limit=5>; rel="next"' });
});
