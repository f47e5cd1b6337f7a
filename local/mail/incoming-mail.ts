/** Takes mails by SMTP, keeps and reports them, as SES and its bucket do. docs/adr/0085 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { SESReceipt } from 'aws-lambda';
import { SMTPServer } from 'smtp-server';
import { closeServer, listen, serve } from '../../lib/pages/loopback-server.ts';

/** Bytes that SES takes at most (docs.aws.amazon.com/ses/latest/dg/quotas.html). */
const LARGEST = 40 * 1024 * 1024;

const headOf = (raw: Buffer): string => raw.toString('latin1').split(/\r?\n\r?\n/, 1)[0] ?? '';

function readCommonHeaders(raw: Buffer) {
  const read = (name: string): string | undefined =>
    new RegExp(`^${name}: *(.*)$`, 'im').exec(headOf(raw))?.[1];
  return { from: [read('From') ?? ''], subject: read('Subject') };
}

/** Tests set verdicts: `X-Verdicts: dmarc=FAIL spam=GRAY`. Default: all pass. */
function readVerdicts(raw: Buffer): Partial<SESReceipt> {
  const [, given = ''] = /^X-Verdicts: (.*)$/im.exec(headOf(raw)) ?? [];
  const verdicts = ['spam', 'virus', 'spf', 'dkim', 'dmarc'].map((name) => {
    const [, status = 'PASS'] = new RegExp(`\\b${name}=(\\w+)`).exec(given) ?? [];
    return [`${name}Verdict`, { status }];
  });
  return Object.fromEntries(verdicts) as Partial<SESReceipt>;
}

/**
 * @param options.domain - Other recipients are refused.
 * @param options.report - Gets SES's events.
 * @returns `url` is S3's. Any bucket has the mails, by SES's ids.
 */
export async function startIncomingMail({
  port,
  domain,
  report,
}: {
  port: number;
  domain: string;
  report: (event: string) => void;
}) {
  const mails = new Map<string, Buffer>();
  const s3 = createServer(({ method, url = '' }, response) => {
    if (url.includes('list-type=2')) {
      const keys = [...mails.keys()].map((id) => `<Contents><Key>${id}</Key></Contents>`);
      return response.end(`<ListBucketResult>${keys.join('')}</ListBucketResult>`);
    }
    const id = /[^/?]+(?=\?|$)/.exec(url)?.[0] ?? '';
    const mail = mails.get(id);
    // A copy of a handled mail is not kept.
    if (method === 'PUT') return response.end('<CopyObjectResult/>');
    if (method === 'DELETE') mails.delete(id);
    if (method === 'GET' && mail !== undefined) return response.end(mail);
    response.writeHead(method === 'DELETE' ? 204 : 404);
    return response.end(method === 'DELETE' ? '' : '<Error><Code>NoSuchKey</Code></Error>');
  });
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: LARGEST,
    rejectOversized: true,
    // Milliseconds. By default, a mail program that stays connected delays the end by 30 s.
    closeTimeout: 1,
    onRcptTo: ({ address }, _session, done) =>
      done(address.toLowerCase().endsWith(`@${domain}`) ? null : new Error('Unknown domain')),
    onData(stream, { envelope }, finish) {
      const receive = async (): Promise<void> => {
        const raw = await buffer(stream);
        const messageId = randomUUID();
        mails.set(messageId, raw);
        const recipients = envelope.rcptTo.map(({ address }) => address);
        const source = envelope.mailFrom ? envelope.mailFrom.address : '';
        const receipt = { recipients, ...readVerdicts(raw) };
        const commonHeaders = readCommonHeaders(raw);
        report(JSON.stringify({ mail: { messageId, source, commonHeaders }, receipt }));
      };
      receive().then(() => finish(), finish);
    },
  });
  smtp.on('error', () => undefined);
  const url = await serve(s3);
  return {
    url,
    port: await listen(smtp.server, port),
    async close(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      smtp.close(() => resolve());
      await promise;
      await closeServer(s3);
    },
  };
}
