import { setTimeout as sleep } from 'node:timers/promises';
import {
  always,
  answer,
  answerAfter,
  cutConnection,
  EMPTY,
  first,
  hang,
  JSON_TYPE,
  pass,
  refuse,
  RESET,
  type Fault,
  type Plan,
} from '../helpers/fault-proxy.ts';

/** The engine does it; nothing is answered. */
export const hangAfter: Fault = async ({ forward }) => void (await forward());

/** Keeps requests until they are released, long after their sender has given up. */
export function createHold() {
  const kept: (() => Promise<unknown>)[] = [];
  return {
    fault: (async ({ receive, forward }) => {
      await receive();
      kept.push(forward);
    }) satisfies Fault,
    async release(): Promise<void> {
      await Promise.all(kept.splice(0).map(async (forward) => forward()));
    },
    drop: () => void kept.splice(0),
  };
}

/** Answers headers and a part of the body, then cuts the connection or sends nothing. */
export const breakOff =
  (then: 'cut' | 'stall', bytes: number): Fault =>
  async ({ response, socket, forward }) => {
    const { status, headers, body } = await forward();
    response.writeHead(status, { ...headers, 'content-length': String(body.length) });
    response.flushHeaders();
    response.write(body.subarray(0, Math.min(bytes, body.length - 1)));
    await sleep(50);
    if (then === 'cut') socket.destroy();
  };

/** A byte every half second: no timeout between bytes ends it. */
export const drip: Fault = async ({ response, socket, forward }) => {
  const { body } = await forward();
  response.writeHead(200, { ...JSON_TYPE, 'content-length': String(body.length + 100) });
  for (const byte of Buffer.concat([Buffer.alloc(100, ' '), body])) {
    if (socket.destroyed) return;
    response.write(Buffer.from([byte]));
    await sleep(500);
  }
};

/** A header every half second, so that the socket is never idle. */
const dripHeaders: Fault = async ({ receive, socket }) => {
  await receive();
  socket.write('HTTP/1.1 200 OK\r\n');
  for (let n = 0; !socket.destroyed; n++) {
    socket.write(`X-Drip-${n}: 1\r\n`);
    await sleep(500);
  }
};

export const delay =
  (milliseconds: number): Fault =>
  (exchange) =>
    sleep(milliseconds).then(() => pass(exchange));

const HTML = '<html><body><h1>Service Unavailable</h1></body></html>';
const HTML_TYPE = { 'content-type': 'text/html' };
export const TRUNCATED: Fault = answerAfter(({ body }) => ({ body: body.subarray(0, -1) }));
/** Asks for a retry after an hour. */
export const LATER = answer(503, '', { 'retry-after': '3600', 'x-amz-retry-after': '3600000' });

/** The next attempt succeeds. */
const transient: readonly [name: string, fault: Fault][] = [
  ['throttled', refuse(400, 'ProvisionedThroughputExceededException')],
  ['500 in JSON', refuse(500, 'InternalServerError')],
  ['500 in HTML', answer(500, HTML, HTML_TYPE)],
  ['500 after the write', answerAfter(() => ({ status: 500 }))],
  ['reset before the request', cutConnection('before', 'reset')],
  ['reset during the request', cutConnection('during', 'reset')],
  ['reset after the write', RESET],
  ['half-closed before the request', cutConnection('before', 'close')],
  ['half-closed after the write', cutConnection('after', 'close')],
  ['a partial body', breakOff('cut', 1)],
  ['no answer', hang],
  ['no answer after the write', hangAfter],
  ['a stalled body', breakOff('stall', 1)],
  ['dripping headers', dripHeaders],
];
/** It may fail, too. */
const permanent: readonly [name: string, fault: Fault][] = [
  ['throttled, to be tried again in an hour', refuse(400, 'ThrottlingException')],
  ['503, to be tried again in an hour', LATER],
  ['502 without a body', answer(502, '', {})],
  ['access denied', refuse(400, 'AccessDeniedException')],
  ['credentials expired', refuse(400, 'ExpiredTokenException')],
  ['validation', refuse(400, 'ValidationException')],
  ['an error type of any name', refuse(400, '__proto__')],
  ['an error without a body', answer(400, '', {})],
  ['a redirect to elsewhere', answer(307, '', { location: 'http://127.0.0.1:9/' })],
  ['200 with an empty body, nothing done', answer(200, '')],
  ['200 with an empty object, nothing done', answer(200, '{}')],
  ['200 with null', answer(200, 'null')],
  ['200 with an empty body after the write', EMPTY],
  ['204 after the write', answerAfter(() => ({ status: 204, body: Buffer.alloc(0) }))],
  ['200 with truncated JSON', TRUNCATED],
  ['200 in HTML', answer(200, HTML, HTML_TYPE)],
  ['headers and no body, cut', breakOff('cut', 0)],
  ['a dripping body', drip],
  [
    'bytes that are no HTTP',
    async ({ receive, socket }) => {
      await receive();
      socket.end('\u0000\u0001 nonsense\r\n\r\n');
    },
  ],
  ['a header that is too long', answer(200, '{}', { 'x-long': 'x'.repeat(100_000) })],
];

/** And whether a request succeeds all the same. */
export const PLANS: readonly [name: string, plan: Plan, works: boolean][] = [
  ...transient.flatMap(([name, fault]): typeof PLANS => [
    [`${name}, once`, first(1, fault), true],
    [`${name}, for ever`, always(fault), false],
  ]),
  ...permanent.map(([name, fault]): (typeof PLANS)[number] => [name, always(fault), false]),
  ['a throttle, a reset, then an answer', (n) => [transient[0]?.[1], RESET][n], true],
];
export const sometimes: Plan = () => {
  const any = [...transient, ...permanent];
  return Math.random() < 1 / 8 ? any[Math.floor(Math.random() * any.length)]?.[1] : undefined;
};
