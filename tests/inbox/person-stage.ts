import { createHmac, randomUUID } from 'node:crypto';
import { createErasureRecords } from '../../src/entities/erasures.ts';
import { refusal, type Answer } from '../local/aws.ts';
import { answer, refuse } from '../resilience/fault-proxy.ts';
import { writeIdempotencyKey } from './idempotency.ts';
import { openInbox, startStage } from './test-inbox.ts';

/** What a record of an erasure begins with. */
export function toRecordKey(key: Buffer, sub: string): string {
  const hash = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  return `${hash('key id').slice(0, 16)}#${hash(sub)}#`;
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

const TAGS = { user_pool: 'eu-central-1_Pool', mail_bucket: 'mails' };

/** The key that somebody else has just created, where `PutParameter` fails. */
export const RIVAL = Buffer.alloc(32, 7);

/** A stage with all stores: AWS's are in memory, and its changes can end at a step. */
export async function openPersonStage() {
  const own = await openInbox();
  // Other tests use the same engine, so the name must be unique.
  const erasures = `${own.name}-erasures`;
  const records = createErasureRecords({ ...own, name: erasures });
  await records.create();
  const { answers, objects } = await startStage(own.url);
  const accounts = new Map<string, { sub: string; email: string; created: number }>();
  const suppressed = new Set<string>();
  /** Requests for keys and accounts, and writes. `failures`: names of errors, by action. */
  const calls: Record<string, unknown>[] = [];
  let failures: Record<string, string> = {};
  let tags: Record<string, string> = TAGS;
  let key: string | undefined;
  let stepsLeft = Infinity;

  const isKilled = (): boolean => stepsLeft-- <= 0;
  const KILLED = refusal(403, 'AccessDeniedException', 'to perform: this on');
  const change = (act: () => unknown, done: Answer = { status: 200, body: {} }): Answer => {
    if (isKilled()) return KILLED;
    act();
    return done;
  };
  own.meet(
    (_, action) => {
      if (action === 'ListTagsOfResource') {
        const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
        return answer(200, JSON.stringify({ Tags }));
      }
      calls.push({ action });
      const name = failures[action] ?? (isKilled() ? 'AccessDeniedException' : undefined);
      return name === undefined ? undefined : refuse(400, name);
    },
    'ListTagsOfResource',
    'PutItem',
    'BatchWriteItem',
  );
  const respond = (action: string, act: (input: Record<string, string>) => Answer): void => {
    answers[action] = ({ body }) => {
      const input = JSON.parse(body) as Record<string, string>;
      calls.push({ action, ...input });
      const name = failures[action];
      if (name === undefined) return act(input);
      if (action === 'PutParameter') key = RIVAL.toString('base64');
      return refusal(400, name, `to perform: cognito-idp:${action} on`);
    };
  };
  respond('GetParameter', () =>
    key === undefined
      ? refusal(400, 'ParameterNotFound', '')
      : { status: 200, body: { Parameter: { Value: key } } },
  );
  respond('PutParameter', ({ Value }) => change(() => (key = Value)));
  respond('ListUsers', ({ Filter = 'sub ^= ""' }) => {
    const [, name = '', operator, value = ''] = /^(\w+) (\^?=) "(.*)"$/.exec(Filter) ?? [];
    const Users = [...accounts].flatMap(([Username, { sub, email, created }]) => {
      const actual = name === 'sub' ? sub : email;
      const isFound = operator === '=' ? actual === value : actual.startsWith(value);
      const Attributes = Object.entries({ sub, email }).map(([Name, Value]) => ({ Name, Value }));
      return isFound ? { Username, Attributes, UserCreateDate: created / 1_000 } : [];
    });
    return { status: 200, body: { Users } };
  });
  respond('AdminDeleteUser', ({ Username = '' }) => change(() => accounts.delete(Username)));

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
    void accounts.set(`user-${sub}`, { sub, email, created });

  /** With all that the service can have. @returns What must not be left. */
  async function addPerson(sub: string = randomUUID()) {
    const email = `ana.lopez-${sub.slice(0, 13)}@example.com`;
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

  const toLine = (line: string): string =>
    `--stage develop --table ${own.name} --erasures ${erasures} ${line}`;

  return {
    own,
    objects,
    accounts,
    calls,
    /** @param names - Errors of the next requests. @param changed - Tags of the table of erasures. */
    fail(names: typeof failures = {}, changed: typeof tags = TAGS): void {
      failures = names;
      tags = changed;
    },
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
    toLine,
    run: (line: string) => own.run(toLine(line)),
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
