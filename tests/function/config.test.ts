import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

it('reads the settings', () => {
  expect(parseConfig({ ...REQUIRED, AWS_REGION: 'r' })).toEqual({
    tableName: 't',
    corsOrigin: 'https://o',
    region: 'r',
  });
});

describe.each([
  ['RETENTION_DAYS', 'retentionDays', 36_500],
  ['INQUIRIES_PER_HOUR', 'inquiriesPerHour', 1_000],
] as const)('%s', (variable, name, most) => {
  it.each([
    ['', undefined],
    ['1', 1],
    [String(most), most],
  ])('%j is read as %j', (text, value) => {
    expect(parseConfig({ ...REQUIRED, [variable]: text })).toHaveProperty(name, value);
  });

  it.each([String(most + 1), '0', '01', '-1', '1.5', '0x10', '7\n', '٧'])(
    '%j is refused',
    (text) => {
      const message = `Missing or malformed environment variable: ${variable}`;
      expect(() => parseConfig({ ...REQUIRED, [variable]: text })).toThrow(new Error(message));
    },
  );
});

it.each(['TABLE_NAME', 'CORS_ORIGIN'])('%s is required', (name) => {
  const message = `Missing or malformed environment variable: ${name}`;
  expect(() => parseConfig({ ...REQUIRED, [name]: '' })).toThrow(new Error(message));
});
