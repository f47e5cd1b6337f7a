import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

it('reads the settings', () => {
  const env = { RETENTION_DAYS: '36500', INQUIRIES_PER_HOUR: '1000' };
  const numbers = { retentionDays: 36_500, inquiriesPerHour: 1_000 };
  const read = { tableName: 't', corsOrigin: 'https://o' };
  expect(parseConfig({ ...REQUIRED, ...env })).toEqual({ ...read, ...numbers });
  expect(parseConfig({ ...REQUIRED, RETENTION_DAYS: '' }).retentionDays).toBeUndefined();
});

it.each([
  ['TABLE_NAME', ''],
  ['CORS_ORIGIN', ''],
  ['INQUIRIES_PER_HOUR', '1001'],
  ...['36501', '0', '01', '-1', '1.5', '0x10', '7\n', '٧'].map((text) => ['RETENTION_DAYS', text]),
])('refuses %s=%j by name', (name = '', text = '') => {
  const message = `Missing or malformed environment variable: ${name}`;
  expect(() => parseConfig({ ...REQUIRED, [name]: text })).toThrow(new Error(message));
});
