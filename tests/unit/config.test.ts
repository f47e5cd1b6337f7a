import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';

it('reads the settings', () => {
  expect(parseConfig({ TABLE_NAME: 't', CORS_ORIGIN: 'https://o', AWS_REGION: 'r' })).toEqual({
    tableName: 't',
    corsOrigin: 'https://o',
    region: 'r',
  });
});

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

it.each([
  [undefined, undefined],
  ['', undefined],
  ['1', 1],
  ['36500', 36_500],
])('reads RETENTION_DAYS=%j as %j days', (days, retentionDays) => {
  expect(parseConfig({ ...REQUIRED, RETENTION_DAYS: days })).toHaveProperty('retentionDays', retentionDays);
});

it.each([
  '0',
  '01',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x10',
  '36501',
  '9'.repeat(400),
  ' 7',
  '7 ',
  '7\n',
  'seven',
  '٧',
])('refuses RETENTION_DAYS=%j', (days) => {
  const message = `RETENTION_DAYS is not a whole number from 1 to 36500: ${days}`;
  expect(() => parseConfig({ ...REQUIRED, RETENTION_DAYS: days })).toThrow(new Error(message));
});

it.each([
  [{ CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{ TABLE_NAME: 't' }, 'CORS_ORIGIN'],
  [{ TABLE_NAME: '', CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{}, 'TABLE_NAME, CORS_ORIGIN'],
])('names what is missing in %j', (env, missing) => {
  expect(() => parseConfig(env)).toThrow(new Error(`Missing environment variables: ${missing}`));
});
