/** What a version has to pass before users get it, also at a rollback. */
import { marshall } from '@aws-sdk/util-dynamodb';
import {
  assert,
  assertCreated,
  assertError,
  assertHeader,
  assertList,
  createContractChecks,
  parseBody,
  toEvent,
  type ServiceRequest,
  type ServiceResponse,
} from '../../lib/contract/contract-checks.ts';
import { readVersion } from '../versions.ts';
import { checkMemory, createInvoke, Unavailable, type Invoke, type Line } from './invoke.ts';
import { Pending, type Check } from './run-checks.ts';

/** So many invocations show whether memory is freed. */
const INVOCATIONS = 30;

/** Claims of a user whose address nobody has. */
function createClaims() {
  const sub = crypto.randomUUID();
  return { sub, email: `test-${sub}@inquiries.invalid` };
}

const createCall =
  (invoke: Invoke, origin: string) =>
  async (request: ServiceRequest, claims?: object): Promise<ServiceResponse> => {
    const { statusCode, headers, body } = (await invoke(toEvent(request, claims))).result;
    const response = {
      status: Number(statusCode),
      headers: new Headers(headers as Record<string, string>),
      body: parseBody(String(body)),
    };
    if (response.status >= 500) {
      throw new Unavailable(`answered ${response.status}: ${String(body)}`);
    }
    assertHeader(response, 'Access-Control-Allow-Origin', origin);
    return response;
  };

/** Checks as callers without an identity and as two users. They leave two inquiries, which expire after a day. */
function createRequestChecks(invoke: Invoke, origin = ''): Check[] {
  const call = createCall(invoke, origin);
  const claims = createClaims();
  const other = createClaims();
  const callWithKey = (request: ServiceRequest, key: string) =>
    call({ ...request, headers: { 'idempotency-key': key } }, claims);

  const expect401 = async (): Promise<void> => {
    for (const each of [undefined, { ...claims, email: '' }]) {
      assertError(await call({ method: 'GET' }, each), 401, 'Unauthorized');
    }
  };
  const expect400 = async (): Promise<void> => {
    const response = await call({ method: 'POST', body: '{"subject":"Test"}' }, claims);
    assertError(response, 400, 'BAD_REQUEST');
  };
  const listOwn = async (): Promise<void> => {
    const post = { method: 'POST', body: '{"subject":"Test","body":"Left by a deployment."}' };
    const response = await callWithKey(post, crypto.randomUUID());
    if (response.status === 429) throw new Pending('the stage takes one inquiry an hour');
    const { id } = assertCreated(response);
    const { email, inquiries } = assertList(await call({ method: 'GET' }, claims));
    const foreign = inquiries.filter(
      (each) => each.email !== claims.email || each.cognito_sub !== claims.sub,
    );
    assert(email === claims.email && foreign.length === 0, 'it lists what is not of the claims');
    assert(inquiries.length === 2 && inquiries[0]?.id === id, `it lists ${inquiries.length} of 2`);
  };
  const listNone = async (): Promise<void> => {
    for (const each of [other, { ...claims, sub: other.sub }, { ...claims, email: other.email }]) {
      const { count } = assertList(await call({ method: 'GET' }, each));
      assert(count === 0, `another user gets ${count} inquiries`);
    }
  };
  const useMemory = async (): Promise<string> => {
    const log: Line[] = [];
    for (let count = 0; count < INVOCATIONS; count++) {
      log.push(...(await invoke(toEvent({ method: 'GET' }, claims))).log);
    }
    return `${checkMemory(log)} MB after ${INVOCATIONS} requests`;
  };

  const firstKey = crypto.randomUUID();
  const { contract, key } = createContractChecks((request) => callWithKey(request, firstKey));
  return [
    ['401 without claims, and with an empty email', expect401],
    ...contract,
    ['400 for an inquiry without a body', expect400],
    ...key,
    ['a user gets their own inquiries, newest first', listOwn],
    ['another user gets none', listNone],
    ['it frees memory', useMemory],
  ];
}

// In a trial (mail/trial.ts) the functions that mail do everything but send; other events concern no mail.

function toStreamEvent(email: string, isReply: boolean) {
  const time = new Date().toISOString();
  const inquiry = {
    __edb_e__: 'inquiry',
    __edb_v__: '1',
    id: '019aa0c8-6f77-70a2-a975-366ad3f1860a',
    cognito_sub: crypto.randomUUID(),
    email,
    subject: 'Test',
    body: 'Left by a deployment.',
    created_at: time,
  };
  const reply = { reply: 'Test', respondent: 'deployment', reply_at: time };
  const record = {
    eventID: '1',
    eventName: isReply ? 'MODIFY' : 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      SequenceNumber: '1',
      NewImage: marshall({ ...inquiry, ...(isReply && reply) }),
      ...(isReply && { OldImage: marshall(inquiry) }),
    },
  };
  return { Records: [record] };
}
const toQueueEvent = (body: string) => ({
  Records: [{ eventSource: 'aws:sqs', messageId: 'trial', body }],
});

/** The recipients of the mails that a trial would have sent. */
async function expectMail(invoke: Invoke, event: object): Promise<string> {
  const { result } = await invoke({ ...event, trial: true });
  const { mails } = result;
  assert(
    Array.isArray(mails) && mails.length === 1,
    `it would send no mail: ${JSON.stringify(result)}`,
  );
  return `would be sent to ${mails.join()}`;
}

/** To an address that no inquiry has: the receiver passes it to the team. */
const toReceiptEvent = (domain: string) =>
  toQueueEvent(
    JSON.stringify({
      mail: { messageId: 'trial', source: 'test@trial.invalid' },
      receipt: {
        recipients: [`r2601-019aa0c86f7770a2a975366ad3f1860a${'0'.repeat(24)}@${domain}`],
        ...Object.fromEntries(
          ['dmarc', 'spam', 'virus'].map((name) => [`${name}Verdict`, { status: 'PASS' }]),
        ),
      },
    }),
  );

function createMailerChecks(invoke: Invoke): Check[] {
  const expectResult = async (event: object, expected: object): Promise<void> => {
    const found = JSON.stringify((await invoke(event)).result);
    assert(found === JSON.stringify(expected), `it answered ${found}`);
  };
  const bounce = {
    bounce: { feedbackId: crypto.randomUUID(), bounceType: 'Permanent', bouncedRecipients: [] },
    mail: { destination: ['test@trial.invalid'], tags: {} },
  };
  const checks = [false, true].flatMap((isReply): Check[] => [
    [
      `a record of ${isReply ? 'a reply' : 'an inquiry'} becomes a mail`,
      () => expectMail(invoke, toStreamEvent('test@trial.invalid', isReply)),
    ],
    [
      `a record of ${isReply ? 'a reply to a test' : 'a test'} is handled`,
      () =>
        expectResult(toStreamEvent('test@inquiries.invalid', isReply), { batchItemFailures: [] }),
    ],
  ]);
  return [
    ...checks,
    ['a bounce becomes a mail', () => expectMail(invoke, toQueueEvent(JSON.stringify(bounce)))],
    ['a text of SES is handled', () => expectResult(toQueueEvent('Test'), { outcomes: ['idle'] })],
    [
      'the timer is handled',
      async () => {
        const { result } = await invoke({ digest: true, trial: true });
        const answered = JSON.stringify(result['result']);
        const isRight = /^{"digest":"(idle|sent)","daily":"(idle|sent)"}$/.test(answered);
        assert(isRight, `it answered ${answered}`);
      },
    ],
  ];
}

const createReceiverChecks = (invoke: Invoke, domain: string): Check[] => [
  ['a received mail becomes one to the team', () => expectMail(invoke, toReceiptEvent(domain))],
];

/** Checks of a version: nobody is signed in, so it reads no inquiry. */
function createInboxFunctionChecks(invoke: Invoke, origin = ''): Check[] {
  const { host } = new URL(origin);
  const get = async (path: string) => {
    const event = toEvent({ method: 'GET', path, headers: { host } });
    return (await invoke(event)).result as { statusCode: number; headers: Record<string, string> };
  };
  return [
    [
      'its pages lead to the sign-in',
      async () => {
        const { statusCode, headers } = await get('/');
        if (statusCode === 503) throw new Unavailable('the issuer does not answer');
        const { location = '' } = headers;
        assert(
          statusCode === 302 && location.includes('/oauth2/authorize?'),
          `${statusCode} ${location}`,
        );
      },
    ],
    [
      'it has its style sheet',
      async () => {
        const { statusCode } = await get('/style.css');
        assert(statusCode === 200, `${statusCode}`);
      },
    ],
  ];
}

export async function createVersionChecks(name: string, version: string): Promise<Check[]> {
  const invoke = createInvoke(`${name}:${version}`);
  const { environment } = await readVersion(name, version);
  const { CORS_ORIGIN, TEAM, ORIGIN, INBOX_TO, MAIL_BUCKET, REPLY_DOMAIN = '' } = environment;
  if (TEAM !== undefined) return createInboxFunctionChecks(invoke, ORIGIN);
  if (INBOX_TO === undefined) return createRequestChecks(invoke, CORS_ORIGIN);
  return MAIL_BUCKET === undefined
    ? createMailerChecks(invoke)
    : createReceiverChecks(invoke, REPLY_DOMAIN);
}
