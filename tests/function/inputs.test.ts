/** The inputs that the request path sends are those that ElectroDB makes of the models, value for value. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { Entity } from 'electrodb';
import {
  array,
  assert,
  constantFrom,
  nat,
  oneof,
  option,
  property,
  record,
  string,
} from 'fast-check';
import { expect, it } from 'vitest';
import { inquirySchema, type Inquiry } from '../../src/contract.ts';
import { IDEMPOTENCY_KEY_MODEL } from '../../src/entities/idempotency-key.ts';
import { createInputs } from '../../src/entities/inputs.ts';
import { INQUIRY_MODEL } from '../../src/entities/inquiry.ts';
import { digest, toOwnerHour } from '../../src/entities/keys.ts';
import { LANGUAGES, type Language } from '../../src/languages.ts';
import { RATE_MODEL } from '../../src/entities/rate.ts';
import { INQUIRY } from '../helpers/events.ts';

const TABLE = 'inquiries';
const MODELS = { inquiry: INQUIRY_MODEL, key: IDEMPOTENCY_KEY_MODEL, rate: RATE_MODEL };
/** Other attributes of an inquiry's row, which the API never writes. */
const REPLY = new Set(['reply', 'respondent', 'reply_at']);

interface Values {
  readonly inquiry: Inquiry;
  readonly key: string;
  readonly expiry: number | undefined;
  readonly language: Language | undefined;
  readonly time: number;
  readonly count: number;
}

/** ElectroDB's scalars as attribute values. */
function toSent({
  Item,
  Key,
  ExpressionAttributeValues: values,
  ...input
}: Record<string, object>) {
  return {
    ...input,
    ...(Item && { Item: marshall(Item) }),
    ...(Key && { Key: marshall(Key) }),
    ...(values && { ExpressionAttributeValues: marshall(values) }),
  };
}

const createEntities = (models: typeof MODELS) => ({
  inquiries: new Entity(models.inquiry, { table: TABLE }),
  keys: new Entity(models.key, { table: TABLE }),
  rates: new Entity(models.rate, { table: TABLE }),
});

function makeByElectroDb(
  { inquiries, keys, rates }: ReturnType<typeof createEntities>,
  { inquiry, key, expiry, language, time, count }: Values,
): object[] {
  const { id, cognito_sub, email, subject, body } = inquiry;
  const owner = { cognito_sub, email };
  const of = { ...owner, key: digest(key) };
  const read = { ConsistentRead: true };
  const update = (sent: number) =>
    rates
      .update({ owner_hour: toOwnerHour(cognito_sub, time * 1_000) })
      .set({ expires_at: time + 7_200 })
      .add({ inquiries: sent });
  const newestFirst = (ProjectionExpression: string) =>
    ({ order: 'desc', params: { ...read, ProjectionExpression } }) as const;
  return [
    inquiries
      .put({
        ...inquiry,
        ...(language && { language, email_verified: true }),
        ...(expiry !== undefined && { expires_at: expiry }),
      })
      .params(),
    keys
      .put({ ...of, payload: digest(subject, body), inquiry: id, expires_at: time })
      .where(
        ({ expires_at }, { notExists, lte }) =>
          `${notExists(expires_at)} OR ${lte(expires_at, count)}`,
      )
      .params(),
    keys.query.byOwner(of).params({ params: read }),
    update(1)
      .where(({ inquiries: sent }, { notExists, lt }) => `${notExists(sent)} OR ${lt(sent, count)}`)
      .params(),
    update(-1).params(),
    inquiries.query
      .byOwner(owner)
      .params(newestFirst([...inquirySchema.required, 'expires_at'].join())),
    inquiries.get({ ...owner, id }).params(),
  ].map((input) => toSent(input));
}

function make({ inquiry, key, expiry, language, time, count }: Values): object[] {
  const inputs = createInputs(TABLE);
  const { cognito_sub } = inquiry;
  return [
    inputs.putInquiry(inquiry, expiry, language, language !== undefined),
    inputs.putKey(inquiry, key, time, count),
    inputs.queryKey(inquiry, key),
    inputs.updateRate(toOwnerHour(cognito_sub, time * 1_000), time * 1_000, 1, count),
    inputs.updateRate(toOwnerHour(cognito_sub, time * 1_000), time * 1_000, -1),
    inputs.queryInquiries(inquiry),
    { TableName: TABLE, Key: inputs.startAfter(inquiry, inquiry.id) },
  ];
}

/** Expects the inputs to be those of the models, and the models to have no attribute that the inputs lack. */
function expectEqual(models: typeof MODELS, values: Values): void {
  const made = make(values);
  expect(made).toEqual(makeByElectroDb(createEntities(models), values));
  const written = made.flatMap((input) =>
    'Item' in input ? [Object.keys(input.Item as object)] : [],
  );
  expect(written[0]).toEqual(
    expect.arrayContaining(
      Object.keys(models.inquiry.attributes).filter((name) => !REPLY.has(name)),
    ),
  );
  expect(written[1]).toEqual(expect.arrayContaining(Object.keys(models.key.attributes)));
}

const VALUES: Values = { inquiry: INQUIRY, key: 'k', expiry: 7, language: 'de', time: 9, count: 3 };

it('the inputs of the request path are ElectroDB’s for any values', () => {
  // oxfmt-ignore
  const hostile = constantFrom(
    '', '#', '$', '_', '#email_', '$inquiry_1#id_', '${id}', '{{email}}', ':sk1', '#pk', '"', '\\', '\0',
    '\n', '\u{2028}', '\uD800', '\uDC00x', 'é', 'e\u0301', 'ＡＮＡ', 'ANA@example.com', '__proto__',
    'undefined', ' ',
  );
  const text = oneof(
    hostile,
    string({ unit: 'binary' }),
    array(hostile, { maxLength: 6 }).map((parts) => parts.join('')),
  );
  const entities = createEntities(MODELS);
  const number = nat(2 ** 31);
  const values = record({
    inquiry: record({
      id: text,
      cognito_sub: text,
      email: text,
      subject: text,
      body: text,
      created_at: text,
    }),
    key: text,
    expiry: option(number, { nil: undefined }),
    language: option(constantFrom(...LANGUAGES), { nil: undefined }),
    time: number,
    count: number,
  });
  assert(
    property(values, (made) => {
      expect(make(made)).toEqual(makeByElectroDb(entities, made));
    }),
    { numRuns: 3_000 },
  );
});

const attribute = (more: object) => ({ attributes: { phone: { type: 'string', ...more } } });
const index = (more: object) => ({ indexes: { byOwner: more } });
it.each<[change: string, model: keyof typeof MODELS, more: object]>([
  ['service', 'inquiry', { model: { service: 'contacts' } }],
  ['entity', 'inquiry', { model: { entity: 'contact' } }],
  ['version', 'inquiry', { model: { version: '2' } }],
  ['new attribute', 'inquiry', attribute({})],
  ['default', 'inquiry', attribute({ default: '-' })],
  ['field of an attribute', 'inquiry', { attributes: { body: { field: 'text' } } }],
  [
    'stored form of an attribute',
    'inquiry',
    { attributes: { body: { set: (body: string) => body.trim() } } },
  ],
  ['casing of a key', 'inquiry', index({ pk: { casing: 'lower' } })],
  ['template of a key', 'inquiry', index({ sk: { template: 'i#${id}' } })],
  ['name of a key', 'inquiry', index({ sk: { field: 'sort' } })],
  ['place in the index', 'inquiry', { attributes: { inbox: { set: () => 'open' } } }],
  [
    'another index',
    'inquiry',
    { indexes: { byEmail: { index: 'by-email', pk: { field: 'gsi', composite: ['email'] } } } },
  ],
  ['version of the keys', 'key', { model: { version: '2' } }],
  ['new attribute of the keys', 'key', attribute({})],
  ['version of the rates', 'rate', { model: { version: '2' } }],
  ['name of the count', 'rate', { attributes: { inquiries: { field: 'sent' } } }],
  ['template of the keys', 'key', index({ sk: { template: 'k#${key}' } })],
])('the inputs are not those of a model with another %s', (_, name, more) => {
  const changed = { ...MODELS, [name]: merge(MODELS[name], more) };
  const values = { ...VALUES, inquiry: { ...INQUIRY, email: 'Ana@example.com', body: ' b ' } };
  expectEqual(MODELS, values);
  expect(() => expectEqual(changed, values)).toThrow(/^expected /);
});

function merge(base: object, more: object): object {
  const merged = Object.entries(more).map(([name, value]: [string, unknown]) => {
    const old: unknown = (base as Record<string, unknown>)[name];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [name, isObject ? merge(Object(old) as object, value) : value];
  });
  return { ...base, ...(Object.fromEntries(merged) as object) };
}
