import { afterEach, expect, it, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { warmUpEvents, warmUpRequestHandler } from '../../src/warm-up.ts';

afterEach(() => vi.unstubAllEnvs());

function warmUp(credentials: string, inquiriesPerHour?: number) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', credentials);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials);
  vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  // A request that left the process would fail.
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:9');
  const client = createDynamoDbClient({
    region: 'eu-central-1',
    requestHandler: warmUpRequestHandler,
  });
  const store = createInquiryStore(client, 'ttt');
  const app = createApp({
    inquiries: createInquiries(store, { inquiriesPerHour }),
    corsOrigin: 'https://o',
  });
  return Promise.all(warmUpEvents.map((event) => app(event)));
}

it.each([undefined, 60])(
  'answers POSTs with 201 and a GET with one inquiry, limit %j, and sends nothing',
  async (limit) => {
    const [post, keyed, get] = await warmUp('local', limit);
    expect([post, keyed, get].map((answer) => answer?.statusCode)).toEqual([201, 201, 200]);
    expect(JSON.parse(get?.body ?? '')).toMatchObject({ email: '-', count: 1 });
  },
);

it('ends in answers, not in errors, where credentials are missing', async () => {
  const answers = await warmUp('');
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(warmUpEvents.map(() => 500));
});
