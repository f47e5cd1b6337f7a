import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/errors.ts';
import { readJson } from '../../src/http.ts';
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
      fc.property(fc.oneof(json, broken, long), (body) => {
        const outcome = expected(body);
        if (outcome === 413) refused++;
        expect(read(body)).toEqual(outcome);
      }),
      { numRuns: 200 },
    );
    expect(refused).toBeGreaterThan(0);
  });
});
