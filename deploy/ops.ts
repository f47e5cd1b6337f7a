/** What docs/runbook.md does on a stage. Exit codes: 0 done, 1 failed or something is left, 2 refused. */
import { Lambda } from '@aws-sdk/client-lambda';
import { createTarget, describeFailure, NETWORK, tableOf } from '../lib/aws/aws.ts';
import {
  parseCommandLine,
  runCommand,
  UsageError,
  type Io,
  type Main,
} from '../lib/terminal/command-line.ts';
import { isServiceName } from '../lib/aws/stages.ts';
import { escapeUnsafe, writeLines } from '../lib/terminal/terminal-text.ts';
import { readDeadLetters, type Left } from './dead-letters.ts';
import { readReceivedMails } from './received-mails.ts';
import { queryLogs, QUERIES, type LogGroup } from './log-queries.ts';
import { areDone, sendMails } from './send-mails.ts';
import { parseStage, readStageAccount } from './stage.ts';

const USAGE = `
Usage: npm run ops -- STAGE logs ALARM
       npm run ops -- STAGE request ID
       npm run ops -- STAGE dead-letters [--repeat]
       npm run ops -- STAGE received-mails [--repeat]
       npm run ops -- STAGE send ID ... [--again]
       npm run ops -- STAGE mail on|off

  logs            what the log says about an alarm: ${Object.keys(QUERIES).join(', ')}
  request         the log lines of a request; ID is its response header apigw-requestid
  dead-letters    what the mailer has given up; --repeat tries it again, and removes what succeeds
  received-mails  mails that nobody was told of; --repeat passes them to the receiver again
  send            sends the mails that are due about inquiries, to the team or the owner; --again also sends what was sent or withheld
  mail            starts or stops the mails of new inquiries and replies, until the next deployment
  --hours N       of the log (default: 24)
  --service NAME  of another service than inquiries
`;

const OPTIONS = {
  again: { type: 'boolean', default: false },
  hours: { type: 'string', default: '24' },
  repeat: { type: 'boolean', default: false },
  service: { type: 'string', default: 'inquiries' },
} as const;

const NO_MAILER = 'The stage has no mailer in this account and region.';

const MOST_HOURS = 24 * 366;

function parseHours(text: string): number {
  const hours = Number(text);
  if (/^[1-9]\d*$/.test(text) && hours <= MOST_HOURS) return hours;
  throw new UsageError(`--hours is a whole number from 1 to ${MOST_HOURS}.`);
}

async function showLogs(
  { stdout }: Io,
  name: string,
  [group, query]: readonly [LogGroup, string],
  hours: number,
) {
  const rows = await queryLogs(name, group, query, hours);
  if (rows.length === 0) writeLines(stdout, `The ${group}'s log has no such line.`);
  for (const row of rows) {
    const fields = Object.entries(row).map(([field, value]) => `${field}: ${escapeUnsafe(value)}`);
    writeLines(stdout, fields.join(', '), 4);
  }
  return rows;
}

/** Shows the gateway's line about a request, and what the function has logged about it if it got the request. */
async function showRequest(io: Io, name: string, id: string, hours: number): Promise<void> {
  if (!/^[\w=-]+$/.test(id)) throw new UsageError('That is no id of a request.');
  const found = `filter requestId = "${id}" | display @timestamp, routeKey, status, integrationError, authorizerError, functionRequestId`;
  const [line] = await showLogs(io, name, ['gateway', found], hours);
  const own = line?.['functionRequestId']?.replaceAll(/[^\w-]/g, '') ?? '-';
  if (own === '-') return;
  const ids = ['requestId', 'message.requestId', 'record.requestId'];
  const filter = ids.map((field) => `${field} = "${own}"`).join(' or ');
  const lines = `filter ${filter} | display @timestamp, @message`;
  await showLogs(io, name, ['function', lines], hours);
}

/** Lists items, and repeats them if asked to. @param texts - For an item that was handled, for one that failed, and for what to do next. */
async function handleLeft(
  { stdout }: Io,
  items: AsyncIterable<Left>,
  repeat: boolean,
  texts: Record<'done' | 'failed' | 'next' | 'hint', string>,
): Promise<number> {
  const left: Left[] = [];
  try {
    for await (const item of items) {
      left.push(item);
      const isDone = repeat && (await item.repeat());
      if (isDone) await left.pop()?.remove?.();
      writeLines(stdout, `${item.what}${isDone ? texts.done : repeat ? texts.failed : ''}`);
    }
  } finally {
    for (const item of left) await item.release?.();
  }
  const next = repeat ? texts.next : texts.hint;
  writeLines(stdout, left.length === 0 ? 'Nothing is left.' : `Left: ${left.length}; ${next}.`);
  return repeat && left.length > 0 ? 1 : 0;
}

const DEAD_LETTERS = {
  done: ': repeated, and removed',
  failed: '',
  next: 'npm run inbox -- list --all --since DAY finds inquiries that the log does not name',
  hint: '--repeat tries them again',
};
const RECEIVED_MAILS = {
  done: ': passed to the receiver',
  failed: ': to be read by a person',
  next: 'their first lines name no recipient',
  hint: '--repeat passes them on',
};

/** Switches the mappings of the table's stream only, so that events of SES are still handled. */
async function switchMail({ stdout }: Io, name: string, enabled: boolean): Promise<void> {
  const lambda = new Lambda(NETWORK);
  let switched = 0;
  for (const mailer of ['mailer', 'mailer-replies']) {
    const { EventSourceMappings = [] } = await lambda.listEventSourceMappings({
      FunctionName: `${name}-${mailer}:live`,
    });
    for (const { UUID, EventSourceArn = '' } of EventSourceMappings) {
      if (!EventSourceArn.includes(':dynamodb:')) continue;
      await lambda.updateEventSourceMapping({ UUID, Enabled: enabled });
      switched++;
      writeLines(stdout, `${name}-${mailer} is being ${enabled ? 'enabled' : 'disabled'}.`);
    }
  }
  if (switched === 0) throw new Error(NO_MAILER);
}

export const main: Main = async (args, io) => {
  const { values, positionals } = parseCommandLine(USAGE, OPTIONS, { args });
  const [named = '', verb = '', ...rest] = positionals;
  const stage = parseStage(named);
  const [first = ''] = rest;
  const hours = parseHours(values.hours);
  const query = QUERIES[first];
  const isOnOff = first === 'on' || first === 'off';
  const verbs: Record<string, (() => Promise<number | void>) | undefined> = {
    logs: query && (async () => void (await showLogs(io, name, query, hours))),
    request: first === '' ? undefined : async () => showRequest(io, name, first, hours),
    'dead-letters': async () => handleLeft(io, readDeadLetters(name), values.repeat, DEAD_LETTERS),
    'received-mails': async () =>
      handleLeft(io, readReceivedMails(name, accountId), values.repeat, RECEIVED_MAILS),
    send:
      first === ''
        ? undefined
        : async () => {
            const outcomes = await sendMails(name, rest, values.again);
            writeLines(io.stdout, outcomes.join(', '));
            return areDone(outcomes) ? 0 : 1;
          },
    mail: isOnOff ? async () => switchMail(io, name, first === 'on') : undefined,
  };
  const run = verbs[verb];
  if (!isServiceName(values.service)) {
    throw new UsageError(`"${values.service}" is not the name of a service.`);
  }
  if (run === undefined) {
    throw new UsageError(`There is no "${[verb, ...rest].join(' ')}" (see --help).`);
  }
  const name = tableOf(stage, values.service);
  const { accountId } = await readStageAccount(stage);
  return run().catch((error: Error) => {
    if (error.name === 'QueueDoesNotExist') throw new Error(NO_MAILER, { cause: error });
    throw describeFailure(error, { ...createTarget({ stage }), missing: NO_MAILER });
  });
};

if (import.meta.main) await runCommand(main);
