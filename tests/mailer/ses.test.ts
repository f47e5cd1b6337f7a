/** The pace at which mails are sent again; tests/mailer/mailer.test.ts has the errors of SES. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { close, listen } from '../../lib/loopback-server.ts';
import { createSendMail } from '../../src/mailer/ses.ts';
import { first, startFaultProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { refuseMail } from '../helpers/mailer.ts';
import { toEnvironment } from '../helpers/own-table.ts';

/** Milliseconds that mails wait for. Nothing waits here. */
const waits = vi.hoisted((): number[] => []);
vi.mock('node:timers/promises', async (load) => ({
  ...(await load<object>()),
  setTimeout: async (wait: number) => void waits.push(wait),
}));

const ses = createServer((_, response) => response.end('{"MessageId":"m"}'));
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy(`http://127.0.0.1:${await listen(ses, 0)}`);
  Object.assign(process.env, toEnvironment(''), { AWS_ENDPOINT_URL_SESV2: proxy.url });
});
afterAll(async () => {
  await proxy.close();
  await close(ses);
});

const MAIL = {
  to: 'ana@example.com',
  from: 'inquiries@mail.example.com',
  subject: 's',
  text: 't',
  html: '<p>t</p>',
  headers: {},
  tags: {},
};

it('slows down once for all mails that are under way', async () => {
  const send = createSendMail({ region: 'local' });
  // Ten mails, of three attempts each.
  proxy.plan = first(30, refuseMail(429, 'TooManyRequestsException'));
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 10 }, async () => send(MAIL, signal)));
  expect(proxy.attempts).toBe(40);
  expect(waits).not.toEqual([]);
  // Half of the shortest spread, and a random part of it.
  expect(Math.max(...waits)).toBeLessThanOrEqual(750);
});
