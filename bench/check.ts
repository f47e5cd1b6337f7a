/** What every contender has to answer, or it is no contender. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { Inquiry } from '../src/contract.ts';
import { makeOwner } from './database.ts';
import type { Owner, SeededOwner } from './database.ts';
import { claimsOf, getEvent, makeEvent, postEvent } from './events.ts';
import type { EventOptions } from './events.ts';

/** Sends an event and resolves to the handler's result as JSON. */
export type Invoke = (event: string) => Promise<string>;

interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const FIELDS = ['body', 'cognito_sub', 'created_at', 'email', 'id', 'subject'];
const CORS_ORIGIN = 'https://www.example.com';

/** @throws Error naming the event that is answered wrongly. */
export async function checkContract(invoke: Invoke, owner: Owner): Promise<void> {
  const claims = claimsOf(owner);
  const post = { method: 'POST', claims };
  const errors: [string, EventOptions, number, string][] = [
    ['no authorizer', {}, 401, 'Unauthorized'],
    ['no email', { claims: { sub: owner.sub } }, 401, 'Unauthorized'],
    ['an empty email', { claims: { ...claims, email: '' } }, 401, 'Unauthorized'],
    ['no sub', { claims: { email: owner.email } }, 401, 'Unauthorized'],
    ['a sub that is no UUID', { claims: { ...claims, sub: 'ana' } }, 401, 'Unauthorized'],
    ['DELETE', { method: 'DELETE', claims }, 405, 'METHOD_NOT_ALLOWED'],
    ['no body', post, 400, 'BAD_REQUEST'],
    ['JSON null', { ...post, body: 'null' }, 400, 'BAD_REQUEST'],
    ['no fields', { ...post, body: '{}' }, 400, 'BAD_REQUEST'],
    ['no field body', { ...post, body: '{"subject":"s"}' }, 400, 'BAD_REQUEST'],
    ['a subject that is no string', { ...post, body: '{"subject":1,"body":""}' }, 400, 'BAD_REQUEST'],
    ['half a JSON', { ...post, body: '{"subject":"s","body":"' }, 500, 'INTERNAL_SERVER_ERROR'],
    [
      '500 KB',
      { ...post, body: JSON.stringify({ subject: '', body: 'x'.repeat(500_000) }) },
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['limit 0', { claims, query: { limit: '0' } }, 400, 'BAD_REQUEST'],
    ['before what is no id', { claims, query: { before: 'x' } }, 400, 'BAD_REQUEST'],
  ];
  for (const [name, options, status, code] of errors) {
    await explain(name, async () => {
      const { error, message } = parse(await invoke(makeEvent(options)), status) as Record<string, unknown>;
      strictEqual(error, code);
      ok(typeof message === 'string' && message !== '');
    });
  }

  const inquiries: Inquiry[] = [];
  const messages = [
    { subject: '', body: '' },
    { subject: 'Grüße', body: '"line"\n\\line\u2028 🎈' },
    { subject: 'last', body: 'extra fields are not read', email: 'mallory@example.com', id: 1 },
  ];
  for (const [index, message] of messages.entries()) {
    await explain(`POST ${JSON.stringify(message)}`, async () => {
      const event = postEvent(owner, JSON.stringify(message), index === 1);
      const { inquiry } = parse(await invoke(event), 201) as { inquiry: Inquiry };
      checkInquiry(inquiry, owner);
      strictEqual(inquiry.subject, message.subject);
      strictEqual(inquiry.body, message.body);
      ok(Math.abs(Date.now() - Date.parse(inquiry.created_at)) < 60_000, 'created_at is not now');
      inquiries.unshift(inquiry);
    });
  }
  await explain('GET', async () => {
    deepStrictEqual(parse(await invoke(getEvent(owner)), 200), {
      email: owner.email,
      count: inquiries.length,
      inquiries,
    });
  });
  await explain('GET with limit and before', async () => {
    const [first, second, third] = inquiries;
    const answer = await invoke(getEvent(owner, { limit: '1', before: first?.id ?? '' }));
    strictEqual(findHeader(answer, 'link'), `<?before=${second?.id}&limit=1>; rel="next"`);
    deepStrictEqual(parse(answer, 200), { email: owner.email, count: 1, inquiries: [second] });
    const last = await invoke(getEvent(owner, { before: second?.id ?? '' }));
    strictEqual(findHeader(last, 'link'), undefined);
    deepStrictEqual(parse(last, 200), { email: owner.email, count: 1, inquiries: [third] });
  });
}

/** @throws Error when the answer is not the whole list of the owner, newest first. */
export function checkList(result: string, owner: SeededOwner): void {
  const list = parse(result, 200) as { email: string; count: number; inquiries: Inquiry[] };
  strictEqual(list.email, owner.email);
  strictEqual(list.count, owner.count);
  strictEqual(list.inquiries.length, owner.count);
  for (const [index, inquiry] of list.inquiries.entries()) {
    checkInquiry(inquiry, owner);
    const newer = list.inquiries[index - 1];
    ok(newer === undefined || newer.id > inquiry.id, 'the list is not newest first');
  }
}

/** @throws Error when the answer is not a new inquiry of the owner. */
export function checkCreated(result: string, owner: Owner): void {
  checkInquiry((parse(result, 201) as { inquiry: Inquiry }).inquiry, owner);
}

function checkInquiry(inquiry: Inquiry, owner: Owner): void {
  deepStrictEqual(Object.keys(inquiry).toSorted(), FIELDS);
  strictEqual(inquiry.cognito_sub, owner.sub);
  strictEqual(inquiry.email, owner.email);
  ok(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(inquiry.id), 'no UUIDv7');
}

function parse(result: string, status: number): unknown {
  const { statusCode, body } = JSON.parse(result) as Result;
  strictEqual(statusCode, status, `${statusCode} instead of ${status}: ${body.slice(0, 200)}`);
  ok(findHeader(result, 'content-type')?.startsWith('application/json'), 'no Content-Type');
  strictEqual(findHeader(result, 'access-control-allow-origin'), CORS_ORIGIN);
  if (status === 405) ok(findHeader(result, 'allow'), 'no Allow');
  return JSON.parse(body);
}

function findHeader(result: string, name: string): string | undefined {
  const { headers } = JSON.parse(result) as Result;
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

async function explain(name: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Owners that nobody else uses. */
export function createOwners(): () => Owner {
  let number = 100;
  return () => makeOwner(number++);
}
