/** What the log of the built function says about a wrong configuration. */
import { afterEach, expect, it } from 'vitest';
import { makeEvent } from '../helpers/events.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import type { Sandbox } from '../helpers/sandbox.ts';

const CONFIGURATION = {
  TABLE_NAME: 'inquiries',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 's',
  // Nothing listens there.
  AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
};

let sandbox: Sandbox | undefined;
afterEach(() => sandbox?.close());

it.each([
  ['credentials', { AWS_SECRET_ACCESS_KEY: '' }, 'CredentialsProviderError', 0],
  ['a region', { AWS_REGION: '' }, 'RegionMissing', 0],
  ['a database', {}, 'ECONNREFUSED', 3],
  ['a valid endpoint', { AWS_ENDPOINT_URL_DYNAMODB: 'nonsense' }, 'TypeError', 0],
])('without %s answers 500, and the log tells why', async (_, change, errorName, attempts) => {
  sandbox = await startSandbox({ ...CONFIGURATION, ...change });
  const { status, json } = await sandbox.invoke(makeEvent({}));
  expect(status).toBe(500);
  expect(json).toHaveProperty('error', 'INTERNAL_SERVER_ERROR');
  const { lines } = sandbox;
  const readMessages = () =>
    lines.flatMap((line) => (JSON.parse(line) as { message?: object }).message ?? []);
  await expect.poll(readMessages).toEqual([expect.objectContaining({ status: 500, errorName, attempts })]);
});

it('does not start without a variable, and names it', async () => {
  const message = 'Missing environment variables: CORS_ORIGIN';
  await expect(startSandbox({ ...CONFIGURATION, CORS_ORIGIN: '' })).rejects.toThrow(message);
});
