import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeServer, serve } from '../../lib/pages/loopback-server.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';
import { HOUR } from '../../src/limits.ts';
import { createReplyAddresses } from '../../mail/reply-addresses.ts';
import { decide } from '../../mail/received/decide.ts';
import { findNewText } from '../../mail/received/new-text.ts';
import { parseMail } from '../../mail/received/parse-mail.ts';
import { MARKER } from '../../mail/team-mails.ts';
import { describeOnDynamoDbLocal } from '../helpers/engines.ts';
import { INQUIRY, MAIL_SETTINGS } from '../helpers/events.ts';
import { createMailerInstances } from '../mail/mailer-instances.ts';
import { idOf, INBOX } from '../mail/test-mailer.ts';
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

describe('changed addresses', () => {
  const keys = { read: async () => 'secret', make: async () => 'secret' };
  const { create, parse } = createReplyAddresses(keys, RECEIVER_SETTINGS.replyDomain);

  it('are not accepted, whatever digit, kind or inquiry is another', async () => {
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
  it('answer for no sender but the team’s, and no verdicts but three that pass', async () => {
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
    // The inquiry's own, and at most: who answered, an answer that came back, one that was passed on.
    const kinds = all.mails.map(({ to, text }) => `${to} ${text.slice(0, 30)}`);
    expect(kinds.length).toBeLessThanOrEqual(4);
    expect(new Set(kinds).size).toBe(kinds.length);
    expect((await all.inbox.find(idOf(record)))?.reply).toBe(headers === '' ? write(0) : undefined);
  });
});

describeOnDynamoDbLocal('bombs', (engine) => {
  const SIZE = 39 * 1024 * 1024;
  const HEAD = `From: ${OLGA}\nSubject: s\nMIME-Version: 1.0\n`;
  const part = 'Content-Type: application/x; name=a\n\nx\n--b\n';
  const lines = `${'A'.repeat(76)}\n`.repeat(SIZE / 77);

  it('leave a receiver of 512 MB within memory and time', async () => {
    const own = await createOwnTable(engine);
    let raw = '';
    const bucket = createServer((_, response) => void response.end(raw));
    onTestFinished(() => closeServer(bucket));
    const sandbox = await startSandbox({
      module: new URL('../../dist/receiver.mjs', import.meta.url).href,
      environment: {
        ...own.environment(),
        ...INBOX,
        INBOX_TO: 'support@team.example',
        STAGE: 'develop',
        AWS_ENDPOINT_URL_S3: await serve(bucket),
        AWS_ENDPOINT_URL_SESV2: 'http://127.0.0.1:9',
        MAIL_BUCKET: 'mails',
        REPLY_DOMAIN: RECEIVER_SETTINGS.replyDomain,
        REPLY_FROM: '@example.com',
      },
      nodeArguments: ['--max-old-space-size=460'],
      timeout: 600_000,
    });
    onTestFinished(sandbox.close);
    const to = await createAddress({ client: own.client, table: own.name }, 'r', INQUIRY.id);
    for (raw of [
      `${HEAD}${'Content-Type: multipart/mixed; boundary=b\n\n--b\n'.repeat(5_000)}`,
      `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n${part.repeat(10_000)}`,
      `${HEAD}Content-Type: application/x\nContent-Transfer-Encoding: base64\n\n${lines}`,
      `${HEAD}Content-Type: text/plain; charset=utf-7\n\n${lines}`,
      `${HEAD}Content-Type: text/html; charset=\u0000\n\n${'<div><!--'.repeat(SIZE / 9)}`,
      `${HEAD}X-Long: ${'a'.repeat(1_000_000)}\n\nx`,
      `${HEAD}${'X-Many: a\n'.repeat(100_000)}\nx`,
      `From: ${`${OLGA}, `.repeat(80_000)}\n\nx`,
    ]) {
      const event = toQueueEvent(deliverMail({ rawMails: new Map() }, to, {}));
      const started = performance.now();
      // SES cannot be reached, so what is passed on fails; nothing else may.
      await sandbox.invoke(JSON.stringify(event)).catch((error: Error) => {
        expect(String(error.cause)).toContain('not handled yet');
      });
      expect(performance.now() - started).toBeLessThan(55_000);
      expect(sandbox.isRunning()).toBe(true);
    }
    const [, peak = ''] =
      /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${sandbox.pid}/status`, 'utf8')) ?? [];
    expect(Number(peak) / 1024).toBeLessThan(512);
  });
});
