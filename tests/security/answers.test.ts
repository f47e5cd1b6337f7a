import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { createLimits, limitsUnavailableReason, shareOf } from '../../local/lambda/limits.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { HOUR } from '../../src/limits.ts';
import { createReplyAddresses } from '../../mail/reply-addresses.ts';
import { decide } from '../../mail/received/decide.ts';
import { findNewText } from '../../mail/received/new-text.ts';
import { parseMail } from '../../mail/received/parse-mail.ts';
import { MARKER } from '../../mail/team-mails.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS } from '../mail/mail-settings.ts';
import { createMailerInstances } from '../mail/mailer-instances.ts';
import { createWriter, idOf, INBOX } from '../mail/test-mailer.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import {
  createAddress,
  deliverMail,
  quoting,
  RECEIVER_SETTINGS,
  toQueueEvent,
} from '../mail/received/test-mails.ts';

const START = Math.floor(Date.now() / HOUR) * HOUR;
const { signal } = new AbortController();
const SETTINGS = { ...MAIL_SETTINGS, ...RECEIVER_SETTINGS };
const OLGA = 'olga@example.com';
const HARD = inject('hard');

describe('changed addresses', () => {
  const keys = { read: async () => 'secret', make: async () => 'secret' };
  const { create, parse } = createReplyAddresses(keys, RECEIVER_SETTINGS.replyDomain);

  it('are not accepted, whichever digit, kind or inquiry differs', async () => {
    const { id } = INQUIRY;
    const address = await create('r', id, signal);
    expect(await parse(address, signal)).toEqual({ kind: 'r', id });
    const code = /.{24}(?=@)/.exec(address)?.[0] ?? '';
    const ofAnother = await create('r', id.replace(/..$/, 'ff'), signal);
    const digits = Array.from({ length: 56 }, (_, at) => 6 + at).flatMap((at) =>
      Array.from('0123456789abcdef')
        .filter((digit) => digit !== address[at])
        .map((digit) => address.slice(0, at) + digit + address.slice(at + 1)),
    );
    for (const changed of [
      ...digits,
      address.replace('r', 'f'),
      ofAnother.replace(/.{24}(?=@)/, code),
      address.replace('@', `${code}@`),
      address.replace('@', '@other.'),
    ]) {
      expect(await parse(changed, signal)).toBeUndefined();
    }
  });
});

describe('forged mails', () => {
  const STATUSES = ['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED', 'DISABLED'];
  const PASS = { status: 'PASS' } as const;
  const PASSED = { spamVerdict: PASS, virusVerdict: PASS, dmarcVerdict: PASS };
  const SENDERS = [
    `Olga <${OLGA}>`,
    `"${OLGA}" <x@other.example>`,
    `<${OLGA}>, <x@other.example>`,
    `${OLGA} <x@other.example>`,
    `x@other.example\nFrom: ${OLGA}`,
    `${OLGA}\nFrom: x@other.example`,
    `Team: ${OLGA};`,
    'olga@example.com.other.example',
    'olga@notexample.com',
    '=?utf-8?q?olga=40example=2Ecom?= <x@other.example>',
    '"olga@example.com"@other.example',
    '',
  ];
  it('answer only from the team’s address, and only with three verdicts that pass', async () => {
    const to = { kind: 'r', inquiry: INQUIRY, address: 'r@reply.example.com' } as const;
    const answering: string[] = [];
    for (const from of SENDERS) {
      const raw = Buffer.from(`From: ${from}\nSubject: s\n\nYes.`);
      const mail = await parseMail(raw, 'x@other.example');
      for (const verdict of ['spamVerdict', 'virusVerdict', 'dmarcVerdict']) {
        for (const status of STATUSES) {
          const { act } = decide(mail, { ...PASSED, [verdict]: { status } }, to, SETTINGS, START);
          if (act === 'answer') answering.push(`${from} ${status}`);
        }
      }
    }
    expect(answering).toEqual(Array(3).fill(`Olga <${OLGA}> PASS`));
  });

  it.each(['> a\n', 'a\n\n', '-- \n', '5', '26 2026 10:00 o@e.example\n', '##- Answer '])(
    'end in seconds, however often %j is repeated',
    (text) => {
      const sent = {
        senders: ['o@e.example'],
        replyTo: 'r@e.example',
        subject: 's',
        text: 'a b '.repeat(50_000),
        times: [START],
      };
      const started = performance.now();
      for (const mail of [text.repeat(100_000), `${MARKER}\n${text.repeat(100_000)}`]) {
        findNewText(mail, sent, START);
        findNewText(`${text.repeat(100_000)}\n${MARKER}`, sent, START);
      }
      expect(performance.now() - started).toBeLessThan(10_000);
    },
  );
});

describeOnDynamoDbLocal('programs that answer each mail', (engine) => {
  it.each([
    ['say so', 'Auto-Submitted: auto-replied\n', () => 'I am away.'],
    ['do not say so', '', () => 'I am away.'],
    ['do not say so, and never repeat themselves', '', (step: number) => `Away, ${step}.`],
  ])('that %s: at most one mail each, over 10,000 steps', async (_, headers, write) => {
    const all = await createMailerInstances(engine, { time: START, ...RECEIVER_SETTINGS });
    const record = await all.add({ at: START - HOUR });
    await all.create().handle([record]);
    for (let step = 0; step < 10_000; step++) {
      const mail = all.mails[step];
      if (mail === undefined) break;
      const { to, from, replyTo = from } = mail;
      if (!replyTo.endsWith('@reply.example.com')) continue;
      const answer = { from: to, headers, text: quoting(write(step)) };
      await all.create().receive(deliverMail(all, replyTo, answer));
    }
    // There are at most four: the inquiry's own mail, who answered, an answer that came back, and one that was
    // forwarded. They differ in the first lines below the marker, without the count of steps.
    const kinds = all.mails.map(
      ({ to, text }) => `${to} ${text.slice(0, 60).replaceAll(/\d/g, '')}`,
    );
    expect(kinds.length).toBeLessThanOrEqual(4);
    expect(new Set(kinds).size).toBe(kinds.length);
    expect((await all.inbox.find(idOf(record)))?.reply).toBe(headers === '' ? write(0) : undefined);
  });
});

const MB = 1024 * 1024;
const SIZE = 39 * MB;
const HEAD = `From: ${OLGA}\nSubject: s\nMIME-Version: 1.0\n`;
const HTML = `${HEAD}Content-Type: text/html\n\n`;
const MIXED = `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n`;
const fill = (text: string, size = SIZE): string => text.repeat(Math.floor(size / text.length));

const BOMBS: Record<string, () => string> = {
  '2 MB of empty lines': () => `${HEAD}\n${fill('\r\n', 2 * MB)}`,
  '512 KB of line feeds': () => `${HEAD}\n${fill('\n', 512 * 1024)}`,
  '39 MB of line feeds': () => `${HEAD}\n${fill('\n')}`,
  'carriage returns alone': () => `${HEAD}\n${fill('a\r', MB)}`,
  'From of 120 KB': () => `From: ${fill('a', 120 * 1024)}\n\nx`,
  'From of many addresses': () => `From: ${fill(`${OLGA}, `, 190_000)}\n\nx`,
  'From of quotes': () => `From: ${fill('"\\"', 190_000)}\n\nx`,
  'To of groups': () => `${HEAD}To: ${fill('a:', 190_000)}\n\nx`,
  'a subject of encoded words': () => `${HEAD}Subject: ${fill('=?utf-8?q?', 190_000)}\n\nx`,
  'a head of 1 MB': () => `${HEAD}X-Long: ${fill('a', MB)}\n\nx`,
  'many headers': () => `${HEAD}${fill('X-Many: a\n')}\nx`,
  'a type of parameters': () => `${HEAD}Content-Type: text/plain;${fill(' a=(;', 190_000)}\n\nx`,
  'a PDF of 39 MB': () =>
    `${MIXED}--b\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n${fill(`${'A'.repeat(76)}\n`)}--b\n\nYes.\n--b--`,
  'a text of 39 MB': () =>
    `${HEAD}Content-Type: text/plain; charset=shift_jis\n\n${fill('\xE4漢 \n')}`,
  'base64 of 39 MB': () => `${HEAD}Content-Transfer-Encoding: base64\n\n${fill('A=')}`,
  'quoted-printable of 39 MB': () =>
    `${HTML.replace('\n\n', '\nContent-Transfer-Encoding: quoted-printable\n\n')}${fill('=E4=\n')}`,
  'many parts': () => `${MIXED}${fill('--b\n\nx\n')}`,
  'lines like delimiters': () => `${MIXED}${fill('--\n')}`,
  'delimiters of nobody': () => `${MIXED}--b\n\n${fill('--c\n')}`,
  'many HTML texts': () =>
    `${MIXED}${fill(`--b\nContent-Type: text/html\n\n${fill('<p>x', 90_000)}\n`)}`,
  'deep parts': () => `${HEAD}${fill('Content-Type: multipart/mixed; boundary=b\n\n--b\n')}`,
  'deep elements': () => `${HTML}${fill('<s>')}`,
  'deep quotations': () => `${HTML}${'<blockquote>'.repeat(19)}${fill('x<br>')}`,
  'comments in elements': () => `${HTML}${fill('<div><!--')}`,
  'style sheets without an end': () => `${HTML}${fill('<style')}`,
  'embedded pictures': () => `${HTML}${fill('<img src="data:')}`,
  links: () => `${HTML}${fill('<a href=x>y ')}`,
  'a table': () => `${HTML}${fill('<tr><td>x')}`,
  'many pictures': () =>
    `${MIXED}${fill('--b\nContent-Type: image/png\nContent-ID: <a>\n\n', 30_000)}--b\n\n${fill('[cid:', 9 * MB)}`,
  'Outlook’s format': () => `${HEAD}Content-Type: application/ms-tnef\n\n${fill('\0')}`,
  'flowed lines': () => `${HEAD}Content-Type: text/plain; format=flowed\n\n${fill('a \n')}`,
  words: () => `${HEAD}\n${fill('a ')}`,
  'lines below the marker': () => `${HEAD}\n> ${MARKER}\n${fill('> a\n')}`,
  'a signed text': () => `${HEAD}\n${fill('-----BEGIN PGP SIGNED MESSAGE-----\n')}`,
  'quoted lines': () => `${HEAD}\n${fill('> ')}`,
  attributions: () => `${HEAD}\n${fill('On 26 Nov 2026 x <a@b.example> wrote:\n')}`,
  'files of 7 MB': () =>
    `${MIXED}--b\n\n${quoting('Yes.')}\n--b\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n${fill(`${'A'.repeat(76)}\n`, 9.4 * MB)}--b--`,
};

/** Lambda's 512 MB, and the most that a bomb may cost: seconds, and 300 MB with 15 for what garbage the mails before left. */
const LAMBDA = { memory: 512, seconds: 10, megabytes: 315 };

const FOLDER = join(import.meta.dirname, '../mail/received/mails');
const FIXTURES = readdirSync(FOLDER).filter((name) => name.endsWith('.eml'));

const MUTATION = fc.record({
  /** A share of the mail's length. */
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(2_000),
  /** 0 removes the text that is there. */
  times: fc.constantFrom(0, 1, 2, 200),
  inserted: fc.constantFrom(
    '',
    '\0',
    '\r',
    '--b\n',
    '> ',
    '<blockquote>',
    '=?utf-8?b?',
    MARKER,
    'Content-Type: multipart/mixed; boundary=b\n\n',
  ),
});
type Mutation = typeof MUTATION extends fc.Arbitrary<infer Value> ? Value : never;

function mutate(mail: string, { place, length, times, inserted }: Mutation): string {
  const at = Math.floor(place * mail.length);
  const part = mail.slice(at, at + length);
  return mail.slice(0, at) + (inserted + part).repeat(times) + mail.slice(at + length);
}

describeOnDynamoDbLocal('a receiver at Lambda’s share of a core', (engine) => {
  async function start() {
    const own = await createOwnTable(engine);
    let raw: Buffer = Buffer.from('');
    // Of S3 and SES.
    const responses = {
      GET: () => raw,
      POST: () => '{"MessageId":"m"}',
      PUT: () => '<CopyObjectResult/>',
      DELETE: () => '',
    };
    const sizes: number[] = [];
    const server = createServer((request, response) => {
      let size = 0;
      request.on('data', (chunk: Buffer) => (size += chunk.length));
      request.on('end', () => {
        sizes.push(size);
        response.end(responses[request.method as keyof typeof responses]());
      });
    });
    onTestFinished(() => closeServer(server));
    const url = await serve(server);
    const noLimits = await limitsUnavailableReason();
    const limits = noLimits === undefined ? createLimits(LAMBDA.memory) : undefined;
    if (limits === undefined) process.stdout.write(`A whole core: ${noLimits}.\n`);
    const sandbox = await startSandbox({
      module: new URL('../../dist/receiver.mjs', import.meta.url).href,
      environment: {
        ...own.environment(),
        ...INBOX,
        INBOX_TO: 'support@team.example',
        STAGE: 'develop',
        AWS_ENDPOINT_URL_S3: url,
        AWS_ENDPOINT_URL_SESV2: url,
        MAIL_BUCKET: 'mails',
        REPLY_DOMAIN: RECEIVER_SETTINGS.replyDomain,
        REPLY_FROM: '@example.com',
        FILES: 'true',
      },
      nodeArguments: ['--max-old-space-size=460', '--max-semi-space-size=16'],
      before: limits?.enter,
      timeout: 600_000,
    });
    onTestFinished(async () => {
      await sandbox.close();
      await limits?.remove();
    });
    limits?.throttle();
    const id = idOf(await createWriter(own).add({ at: START - HOUR }));
    const to = await createAddress({ client: own.client, table: own.name }, 'r', id);
    const status = `/proc/${sandbox.pid}/status`;
    async function receive(mail: Buffer): Promise<{ seconds: number; megabytes: number }> {
      raw = mail;
      // The peak is measured from now on (proc(5)).
      writeFileSync(`/proc/${sandbox.pid}/clear_refs`, '5');
      const event = toQueueEvent(deliverMail({ rawMails: new Map() }, to, {}));
      const { cpu } = await sandbox.invoke(JSON.stringify(event));
      expect(sandbox.isRunning()).toBe(true);
      const [, peak = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) ?? [];
      const seconds = Math.round(cpu / 100 / shareOf(LAMBDA.memory)) / 10;
      return { seconds, megabytes: Math.round(Number(peak) / 1024) };
    }
    return { receive, sizes };
  }

  const isDear = ({ seconds, megabytes }: { seconds: number; megabytes: number }): boolean =>
    seconds > LAMBDA.seconds || megabytes > LAMBDA.megabytes;

  it('takes little time and memory for bombs', async () => {
    const { receive, sizes } = await start();
    const dear: string[] = [];
    for (const [name, make] of Object.entries(BOMBS)) {
      const raw = Buffer.from(make(), 'latin1');
      expect(raw.length).toBeLessThanOrEqual(40 * MB);
      const cost = await receive(raw);
      process.stdout.write(`${name}: ${cost.seconds} s, ${cost.megabytes} MB\n`);
      if (isDear(cost)) dear.push(name);
    }
    expect(dear).toEqual([]);
    // This shows that the files went to SES.
    expect(Math.max(...sizes)).toBeGreaterThan(9 * MB);
  });

  it('survives random mails', async () => {
    const { receive } = await start();
    const worst = { seconds: 0, megabytes: 0 };
    const numRuns = HARD ? 3_000 : 50;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...FIXTURES),
        fc.array(MUTATION, { minLength: 1, maxLength: 8 }),
        async (name, mutations) => {
          const mail = readFileSync(join(FOLDER, name), 'latin1');
          const cost = await receive(Buffer.from(mutations.reduce(mutate, mail), 'latin1'));
          worst.seconds = Math.max(worst.seconds, cost.seconds);
          worst.megabytes = Math.max(worst.megabytes, cost.megabytes);
          expect(isDear(cost)).toBe(false);
        },
      ),
      { numRuns, endOnFailure: true },
    );
    process.stdout.write(`${numRuns} mails: ${worst.seconds} s, ${worst.megabytes} MB at most\n`);
  });
});
