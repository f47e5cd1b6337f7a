import { randomUUID } from 'node:crypto';
import { createErasureRecords } from '../../src/entities/erasures.ts';
import { refusal, type Answer } from '../local/aws.ts';
import { answer, refuse } from '../resilience/fault-proxy.ts';
import { writeIdempotencyKey } from './idempotency.ts';
import { openInbox, startStage } from './test-inbox.ts';

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** A stage with all stores: AWS's are in memory, and its changes can end at a step. */
export async function openPersonStage() {
  const own = await openInbox();
  // The engine is that of all tests.
  const erasures = `${own.name}-erasures`;
  const records = createErasureRecords({ ...own, name: erasures });
  await records.create();
  const { answers, objects } = await startStage(own.url);
  const accounts = new Map<string, { sub: string; email: string; created: number }>();
  const suppressed = new Set<string>();
  let key: string | undefined;
  let stepsLeft = Infinity;

  const isKilled = (): boolean => stepsLeft-- <= 0;
  const KILLED = refusal(403, 'AccessDeniedException', 'to perform: this on');
  const change = (act: () => unknown, done: Answer = { status: 200, body: {} }): Answer => {
    if (isKilled()) return KILLED;
    act();
    return done;
  };
  const tags = { user_pool: 'eu-central-1_Pool', mail_bucket: 'mails' };
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  own.meet(
    (_, action) => {
      if (action === 'ListTagsOfResource') return answer(200, JSON.stringify({ Tags }));
      return isKilled() ? refuse(400, 'AccessDeniedException') : undefined;
    },
    'ListTagsOfResource',
    'PutItem',
    'BatchWriteItem',
  );
  answers['GetParameter'] = () =>
    key === undefined
      ? refusal(400, 'ParameterNotFound', '')
      : { status: 200, body: { Parameter: { Value: key } } };
  answers['PutParameter'] = ({ body }) =>
    change(() => ({ Value: key } = JSON.parse(body) as { Value: string }));
  answers['ListUsers'] = ({ body }) => {
    const { Filter = 'sub ^= ""' } = JSON.parse(body) as { Filter?: string };
    const [, name = '', operator, value = ''] = /^(\w+) (\^?=) "(.*)"$/.exec(Filter) ?? [];
    const Users = [...accounts].flatMap(([Username, { sub, email, created }]) => {
      const actual = name === 'sub' ? sub : email;
      const isFound = operator === '=' ? actual === value : actual.startsWith(value);
      const Attributes = Object.entries({ sub, email }).map(([Name, Value]) => ({ Name, Value }));
      return isFound ? { Username, Attributes, UserCreateDate: created / 1_000 } : [];
    });
    return { status: 200, body: { Users } };
  };
  answers['AdminDeleteUser'] = ({ body }) =>
    change(() => accounts.delete((JSON.parse(body) as { Username: string }).Username));

  const addMail = (name: string, raw: string): void => {
    objects.set(`/mails/${name}`, raw);
    answers[`DELETE /mails/${name}`] = () =>
      change(() => objects.delete(`/mails/${name}`), { status: 204 });
  };
  const addSuppressed = (address: string): void => {
    suppressed.add(address);
    const action = `/v2/email/suppression/addresses/${address}`;
    const SuppressedDestination = { EmailAddress: address, Reason: 'BOUNCE', LastUpdateTime: 0 };
    answers[`GET ${action}`] = () =>
      suppressed.has(address) ? { status: 200, body: { SuppressedDestination } } : undefined;
    answers[`DELETE ${action}`] = () => change(() => suppressed.delete(address));
  };
  const addAccount = (sub: string, email: string, created = Date.now()): void =>
    void accounts.set(randomUUID(), { sub, email, created });

  /** With all that the service can have. @returns What must not be left. */
  async function addPerson(email = `ana.lopez-${randomUUID()}@example.com`) {
    const sub = randomUUID();
    const former = `former-${email}`;
    const [body, reply] = ['Where is my parcel?', 'On its way.'];
    const answered = await own.add(3_000, {
      cognito_sub: sub,
      email,
      body,
      reply,
      respondent: 'olga@example.org',
      reply_at: new Date().toISOString(),
    });
    const bounce = { undelivered: 'bounce', undelivered_at: answered.created_at } as const;
    await own.deliveries
      .put({ inquiry: answered.id, mail: 'reply', ...bounce, expires_at: 2 ** 31 })
      .go();
    const rows = [
      answered,
      await own.add(2_000, { cognito_sub: sub, email, subject: 'Re: Parcel', body }),
      await own.add(9_999_999_999, { cognito_sub: sub, email: former, body, expires_at: 1 }),
    ];
    await writeIdempotencyKey({ client: own.client, table: own.name }, answered);
    addAccount(sub, email);
    addSuppressed(email);
    const hex = answered.id.replaceAll('-', '');
    const type = (encoding: string) => `Content-Transfer-Encoding: ${encoding}\n`;
    const mails = {
      plain: `From: ${email.toUpperCase()}\nSubject: Parcel\n\n${body}`,
      base64: `From: x@example.org\n${type('base64')}\n${encode(`From ${former}: hello`)}`,
      'quoted-printable': `From: x@example.org\n${type('quoted-printable')}\n${email.slice(0, 5)}=\n${email.slice(5).replace('@', '=40')}`,
      address: `From: olga@example.org\nTo: r2611-${hex}${'0'.repeat(24)}@reply.example.com\n\n${reply}`,
      header: `From: =?utf-8?B?${encode(`Ana, ${email}`)}?= <x@example.org>\n\nHello`,
      attached: `From: x@example.org\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\nContent-Disposition: attachment\n${type('base64')}\n${encode(`From: x@example.org\n${type('base64')}\n${encode(email)}`)}\n--b--`,
    };
    for (const [name, raw] of Object.entries(mails)) addMail(`${name}-${sub}`, raw);
    const names = [sub, email, former, ...rows.map(({ id }) => id), hex];
    return { sub, email, former, rows, names };
  }

  return {
    own,
    objects,
    accounts,
    addPerson,
    addAccount,
    addMail,
    addSuppressed,
    addRecords: async (hashes: string[]) => {
      for (const hash of hashes) await records.add(hash);
    },
    /** Every change after so many is refused, as if the process had ended. */
    killAfter: (steps: number): void => void (stepsLeft = steps),
    wasKilled: (): boolean => stepsLeft < 0,
    countRecords: async () => (await own.scan(erasures)).length,
    countRows: async (sub: string) =>
      (await own.scan()).filter(({ pk }) => String(pk).includes(sub)).length,
    run: (line: string) =>
      own.run(`${line} --stage develop --table ${own.name} --erasures ${erasures}`),
    /** All stores, without the erasures' time. */
    readStores: async (): Promise<string> =>
      JSON.stringify([
        await own.scan(),
        await own.scan(erasures),
        [...objects],
        [...accounts.values()],
        [...suppressed],
      ]),
  };
}
