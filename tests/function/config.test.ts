import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import { expectInTerraformAndDocs } from '../helpers/repository.ts';

const REQUIRED = { TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };

it('reads the settings', () => {
  const env = { RETENTION_DAYS: '36500', INQUIRIES_PER_HOUR: '1000' };
  const numbers = { retentionDays: 36_500, inquiriesPerHour: 1_000 };
  const texts = { HASH_KEY: 'k', STORED_FOR_MAIL: 'language,email_verified' };
  const stored = { hashKey: 'k', storedForMail: ['language', 'email_verified'] };
  const read = { tableName: 't', corsOrigin: 'https://o', ...stored };
  expect(parseConfig({ ...REQUIRED, ...env, ...texts })).toEqual({ ...read, ...numbers });
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

it('every setting is in Terraform and docs', () => {
  expectInTerraformAndDocs(parseConfig, REQUIRED, ['function']);
});
