import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { parseConfig } from '../../src/config.ts';
import { MAXIMA } from '../../src/limits.ts';
import { readText } from '../helpers/repository.ts';

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

  const others = ['0', '01', '-1', '1.5', '1e3', '0x10', '9'.repeat(400), ' 7', '7\n', 'x7', '7x', '٧'];
  it.each([String(most + 1), ...others])('%j is refused', (text) => {
    const message = `${variable} is not a whole number from 1 to ${most}: ${text}`;
    expect(() => parseConfig({ ...REQUIRED, [variable]: text })).toThrow(new Error(message));
  });
});

const terraform = globSync('infra/terraform/*.tf', { cwd: ROOT }).map(readText).join('\n');
it.each(Object.entries(MAXIMA))('Terraform has the same maximum of %s: %i', (name, maximum) => {
  const maxima = terraform.matchAll(new RegExp(`\\b${name.toLowerCase()}"? +<?= (\\d+)`, 'g'));
  expect([...maxima].map(([, digits]) => Number(digits))).toEqual([maximum]);
});

it.each([
  [{ CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{ TABLE_NAME: 't' }, 'CORS_ORIGIN'],
  [{ TABLE_NAME: '', CORS_ORIGIN: 'o' }, 'TABLE_NAME'],
  [{}, 'TABLE_NAME, CORS_ORIGIN'],
])('names what is missing in %j', (env, missing) => {
  expect(() => parseConfig(env)).toThrow(new Error(`Missing environment variables: ${missing}`));
});
