import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config.ts';

it('reads the settings', () => {
  expect(parseConfig({ TABLE_NAME: 't', CORS_ORIGIN: 'https://o', AWS_REGION: 'r' })).toEqual({
    tableName: 't',
    corsOrigin: 'https://o',
    region: 'r',
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
