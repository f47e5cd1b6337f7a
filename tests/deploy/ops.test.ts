/** `npm run ops`, and that the runbook's commands of it are such. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { readText } from '../helpers/repository.ts';
import { ACCOUNT, refusal, type Answer } from '../local/aws.ts';
import { setUpProject } from './programs.ts';
import { main } from '../../deploy/ops.ts';

const {
  arrange: arrangeProject,
  command,
  env,
  state,
} = await setUpProject(() => {
  arrangeProject();
  arrange();
});

const ID = '01a1f794-6f77-70a2-a975-366ad3f1860a';
const AT = '2026-11-26T10:00:00.000Z';
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const ok = (body: object | string): Answer => ({ status: 200, body });
const REQUEST = {
  requestContext: { requestId: 'request-1', condition: 'RetryAttemptsExhausted' },
  DDBStreamBatchInfo: {},
};
const RECEIVED = { Type: 'Notification', Message: JSON.stringify({ mail: {}, receipt: {} }) };
const BOUNCE = { Type: 'Notification', Message: JSON.stringify({ eventType: 'Bounce', mail: {} }) };
const toRow = (fields: Record<string, string>) =>
  Object.entries({ '@ptr': 'p', ...fields }).map(([field, value]) => ({ field, value }));

const MAILS = `/inquiries-develop-mails-${ACCOUNT}`;
/** The lines that SES puts before a mail (a mail of another project, 2025). */
const RAW = `Return-Path: <olga@partner.example>
Received: from mail.example (mail.example [192.0.2.1])
 by inbound-smtp.eu-west-1.amazonaws.com with SMTP id first1
 for r2611-1@reply.example.com;
 Wed, 13 Aug 2025 17:16:06 +0000 (UTC)
X-SES-Spam-Verdict: PASS
X-SES-Virus-Verdict: PASS
Authentication-Results: amazonses.com;
 spf=pass (spfCheck: x) client-ip=192.0.2.1;
 dmarc=pass header.from=partner.example;
X-SES-RECEIPT: AEFB
From: Olga <olga@partner.example>
Subject: Re: Lamp

Yes.`;
/** Without SES's line about viruses, and with the sender's own. */
const FORGED = RAW.replaceAll('first1', 'second2')
  .replace(/X-SES-Virus.*\n/, '')
  .replace('From:', 'X-SES-Virus-Verdict: PASS\nFrom:');

const toList = (keys: string[]): string =>
  `<ListBucketResult>${[...keys, 'AMAZON_SES_SETUP_NOTIFICATION']
    .map((key) => `<Contents><Key>${key}</Key><LastModified>${AT}</LastModified></Contents>`)
    .join('')}<Contents><Key>young</Key></Contents></ListBucketResult>`;

function arrange({
  letters = [...Array.from({ length: 9 }, () => REQUEST), RECEIVED, BOUNCE],
  rows = [toRow({ 'message.inquiry': ID, 'message.errorName': 'A\u001b[2J' })],
  status = 'Complete',
  outcome = 'sent',
  mails = ['first1', 'second2', 'third3'],
} = {}): void {
  const waiting = letters.map((letter) => JSON.stringify(letter));
  let asked = 0;
  Object.assign(state.answers, {
    StartQuery: ({ body }) => {
      const { logGroupNames } = JSON.parse(body) as { logGroupNames: string[] };
      state.changes.push(`query ${logGroupNames.join()}`);
      return ok({ queryId: 'q' });
    },
    GetQueryResults: () =>
      asked++ % 2 === 0 ? ok({ status: 'Running' }) : ok({ status, results: rows }),
    GetQueueUrl: ({ body }) =>
      ok({
        QueueUrl: `${env.AWS_ENDPOINT_URL}/${(JSON.parse(body) as { QueueName: string }).QueueName}`,
      }),
    ReceiveMessage: () =>
      ok({
        Messages: waiting.splice(0, 10).map((Body, n) => ({
          Body,
          MD5OfBody: md5(Body),
          MessageId: `${n}`,
          ReceiptHandle: `r${n}`,
        })),
      }),
    DeleteMessage: () => (state.changes.push('delete'), ok({})),
    ChangeMessageVisibility: () => (state.changes.push('release'), ok({})),
    SendMessage: ({ body }) => {
      const { QueueUrl, MessageBody } = JSON.parse(body) as Record<
        'MessageBody' | 'QueueUrl',
        string
      >;
      state.changes.push(`send to ${QueueUrl.split('/').at(-1)}`);
      if (MessageBody.includes('"recipients"')) state.changes.push(MessageBody);
      return ok({ MessageId: 'm', MD5OfMessageBody: md5(MessageBody) });
    },
    [`GET ${MAILS}/`]: ({ query }) => (query.has('list-type') ? ok(toList(mails)) : undefined),
    [`GET ${MAILS}/${mails[0]}`]: () => ({ status: 200, body: RAW }),
    [`GET ${MAILS}/${mails[1]}`]: () => ({ status: 200, body: FORGED }),
    [`GET ${MAILS}/${mails[2]}`]: () => ({ status: 200, body: RAW }),
    'GET /2015-03-31/event-source-mappings': ({ query }) =>
      ok({
        EventSourceMappings: [
          { UUID: `${query.get('FunctionName')}-1`, EventSourceArn: 'arn:aws:dynamodb:t/stream' },
          { UUID: 'queue', EventSourceArn: 'arn:aws:sqs:q' },
        ],
      }),
  } satisfies typeof state.answers);
  state.invoke = async (name, event) => {
    state.changes.push(`invoke ${name} ${event}`);
    return JSON.stringify({ results: [{ id: ID, outcome }] });
  };
}

const denied = refusal(
  400,
  'AccessDeniedException',
  'User: u is not authorized to perform: logs:StartQuery',
);
const STORIES: Record<string, { args: string; happen?: () => unknown }> = {
  'lines of an alarm': { args: 'logs mailer-failures' },
  'lines of another service': { args: 'logs mailer-failures --service enquiries' },
  'a service whose name is none': { args: 'logs mailer-failures --service A' },
  'no line': { args: 'logs function-errors --hours 48', happen: () => arrange({ rows: [] }) },
  'a query that fails': {
    args: 'logs function-errors',
    happen: () => arrange({ status: 'Failed' }),
  },
  'a query that does not end': {
    args: 'logs function-errors',
    happen: () => arrange({ status: 'Running' }),
  },
  'no permission': {
    args: 'logs function-errors',
    happen: () => (state.answers['StartQuery'] = () => denied),
  },
  'no log group': {
    args: 'logs function-errors',
    happen: () => (state.answers['StartQuery'] = () => undefined),
  },
  'an alarm without a query': { args: 'logs certificate-api' },
  'a request that the function has': {
    args: 'request JKJaXmPLvHcESHA=',
    happen: () => arrange({ rows: [toRow({ routeKey: 'POST', functionRequestId: 'f-1' })] }),
  },
  'a request that the gateway answered': {
    args: 'request JKJaXmPLvHcESHA=',
    happen: () => arrange({ rows: [toRow({ status: '401', functionRequestId: '-' })] }),
  },
  'an id that is none': { args: 'request "|' },
  'eleven dead letters': { args: 'dead-letters' },
  'eleven dead letters that are repeated': { args: 'dead-letters --repeat' },
  'a dead letter whose mails fail again': {
    args: 'dead-letters --repeat',
    happen: () => arrange({ letters: [REQUEST], outcome: 'failed' }),
  },
  'a dead letter without lines in the log': {
    args: 'dead-letters --repeat',
    happen: () => arrange({ letters: [REQUEST], rows: [] }),
  },
  'received mails that nobody was told of': { args: 'received-mails' },
  'those, passed on': { args: 'received-mails --repeat' },
  'no received mails': { args: 'received-mails', happen: () => arrange({ mails: [] }) },
  'no mailer': {
    args: 'dead-letters',
    happen: () =>
      (state.answers['GetQueueUrl'] = () => refusal(400, 'QueueDoesNotExist', 'No queue.')),
  },
  'mails that are sent again': { args: `send ${ID} ${ID} --again` },
  'mail off': { args: 'mail off' },
};

it.each(Object.entries(STORIES))('%s', async (_name, { args, happen }) => {
  happen?.();
  const { code, output } = await command(main, `develop ${args}`);
  expect([output, `exit code ${code}`, ...state.changes].join('\n')).toMatchSnapshot();
});

const COMMANDS = readText('docs/runbook.md').matchAll(/npm run ops -- release ([^`\n]+)/g);
it.each([...new Set([...COMMANDS].map(([, args = '']) => args))])(
  'the runbook’s ops -- release %s runs',
  async (args) => {
    const { code } = await command(main, `release ${args}`);
    expect(code).toBe(0);
  },
);
