import { createServer } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { createApp } from '../../src/app.ts';
import { createDynamoDbClient } from '../../src/entities/client.ts';
import { createInquiryStore } from '../../src/entities/inquiry-store.ts';
import { createInquiries } from '../../src/inquiries.ts';
import { warmUpEvents, warmUpRequestHandler as requestHandler } from '../../src/warm-up.ts';
import { toEnvironment } from '../helpers/own-table.ts';

it.each([undefined, 60])(
  'warm-up POSTs get 201, a GET one inquiry, with the limit %j; nothing is sent',
  async (inquiriesPerHour) => {
    // A request would fail here, as nothing listens.
    const environment = toEnvironment('http://127.0.0.1:9');
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const store = createInquiryStore(createDynamoDbClient(requestHandler), 't');
    const inquiries = createInquiries(store, { inquiriesPerHour });
    const app = createApp({ inquiries, corsOrigin: 'https://o' });
    const answers = await Promise.all(warmUpEvents.map((event) => app(event)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 200, 201, 200]);
    expect(JSON.parse(answers[2]?.body ?? '')).toMatchObject({ email: '-', count: 1 });
  },
);

it('when the handler is ready, the warm-up has run and a query was answered', async () => {
  const answered: unknown[] = [];
  const server = createServer(({ headers }, response) => {
    setTimeout(() => {
      response.setHeader('content-type', 'application/x-amz-json-1.0').end('{"Items":[]}');
      answered.push(headers['x-amz-target']);
    }, 100);
  });
  const url = await serve(server);
  onTestFinished(() => closeServer(server));
  const environment = { ...toEnvironment(url), TABLE_NAME: 't', CORS_ORIGIN: 'https://o' };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const handle = vi.spyOn(requestHandler, 'handle');
  await import('../../src/handler.ts');
  expect(answered).toEqual(['DynamoDB_20120810.Query']);
  expect(handle).toHaveBeenCalledTimes(warmUpEvents.length);
});
