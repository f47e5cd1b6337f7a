import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';

it('reads the settings', () => {
  expect(parseConfig({ TABLE_NAME: 't', CORS_ORIGIN: 'https://o', AWS_REGION: 'r' })).toEqual({
    tableName: 't',
    corsOrigin: 'https://o',
    region: 'r',
  });
});

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

describe.each([
  ['RETENTION_DAYS', 'retentionDays', 36_500],
  ['INQUIRIES_PER_HOUR', 'inquiriesPerHour', 1_000],
] as const)('%s', (variable, name, most) => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['1', 1],
    ['20', 20],
    [String(most), most],
  ])('%j is read as %j', (text, value) => {
    expect(parseConfig({ ...REQUIRED, [variable]: text })).toHaveProperty(name, value);
  });

  const others = [
    '0',
    '01',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '9'.repeat(400),
    ' 7',
    '7\n',
    'x7',
    '7x',
    '٧',
  ];
  it.each([String(most + 1), ...others])('%j is refused', (text) => {
    const message = `${variable} is not a whole number from 1 to ${most}: ${text}`;
    expect(() => parseConfig({ ...REQUIRED, [variable]: text })).toThrow(new Error(message));
  });
});

it.each([
  [{ CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{ TABLE_NAME: 't' }, 'CORS_ORIGIN'],
  [{ TABLE_NAME: '', CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{}, 'TABLE_NAME, CORS_ORIGIN'],
])('names what is missing in %j', (env, missing) => {
  expect(() => parseConfig(env)).toThrow(new Error(`Missing environment variables: ${missing}`));
});
