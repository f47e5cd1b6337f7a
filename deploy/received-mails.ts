import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { SQS } from '@aws-sdk/client-sqs';
import { NETWORK } from '../lib/aws/aws.ts';
import type { Left } from './dead-letters.ts';

/** Milliseconds; younger ones are being handled. */
const HOUR = 3_600_000;
/** The first 64 KB have the lines that SES puts before a mail. */
const Range = 'bytes=0-65535';

const toVerdict = (status: string) => ({
  status: status.toUpperCase() === 'PASS' ? 'PASS' : 'FAIL',
});

/** SES's event, from the lines that SES has put before the mail; undefined if they do not name one recipient. */
function toEvent(messageId: string, mail: string) {
  const lines = mail.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const own = lines.slice(0, lines.findIndex((line) => /^X-SES-RECEIPT:/i.test(line)) + 1);
  const find = (pattern: RegExp, among = own): string =>
    among.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined) ?? '';
  const [, id, recipient] =
    /^Received: from .* by inbound-smtp\.\S+ with SMTP id (\w+) for ([^\s;]+);/im.exec(
      own.join('\n'),
    ) ?? [];
  if (id !== messageId || recipient === undefined) return undefined;
  const head = lines.slice(0, lines.indexOf(''));
  return {
    mail: {
      messageId,
      source: find(/^Return-Path: <?([^>]*)/i),
      commonHeaders: { from: [find(/^From: (.*)/i, head)], subject: find(/^Subject: (.*)/i, head) },
    },
    receipt: {
      recipients: [recipient],
      spamVerdict: toVerdict(find(/^X-SES-Spam-Verdict: (\w+)/i)),
      virusVerdict: toVerdict(find(/^X-SES-Virus-Verdict: (\w+)/i)),
      dmarcVerdict: toVerdict(find(/^Authentication-Results: amazonses\.com;.*\bdmarc=(\w+)/i)),
    },
  };
}

/**
 * What lies in the bucket for more than an hour: mails whose event is lost or was not passed on. docs/adr/0085
 *
 * @param name - The function's.
 * @throws Error without a receiver.
 */
export async function* readReceivedMails(name: string, account: string): AsyncGenerator<Left> {
  const s3 = new S3Client(NETWORK);
  const sqs = new SQS(NETWORK);
  const { QueueUrl } = await sqs.getQueueUrl({ QueueName: `${name}-receiver-events` });
  const Bucket = `${name}-mails-${account}`;
  const pages = paginateListObjectsV2({ client: s3 }, { Bucket, Delimiter: '/' });
  for await (const { Contents = [] } of pages) {
    for (const { Key = '', LastModified = new Date() } of Contents) {
      // SES also leaves an object that is no mail (AMAZON_SES_SETUP_NOTIFICATION).
      if (!/^[a-z\d]+$/.test(Key) || LastModified.getTime() > Date.now() - HOUR) continue;
      yield {
        what: `The mail ${Key} of ${LastModified.toISOString()}`,
        repeat: async () => {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
          const event = toEvent(Key, (await Body?.transformToString('latin1')) ?? '');
          if (event === undefined) return false;
          await sqs.sendMessage({ QueueUrl, MessageBody: JSON.stringify(event) });
          return true;
        },
      };
    }
  }
}
