import { SQS } from '@aws-sdk/client-sqs';
import { NETWORK } from '../lib/aws/aws.ts';
import { parseObject } from '../lib/terminal/command-line.ts';
import { queryLogs } from './log-queries.ts';
import { areDone, sendMails } from './send-mails.ts';

/** Seconds in which nobody gets a message that was read, unless it is released. */
const HIDDEN = 900;

/** An item that was not handled. */
export interface Left {
  what: string;
  /** @returns Whether it is handled, so that the message can go. */
  repeat: () => Promise<boolean>;
  remove?: () => Promise<unknown>;
  /** Makes the message visible again. */
  release?: () => Promise<unknown>;
}

/**
 * What mailer and receiver have given up: batches of the table's stream, invocations, and events of SES.
 *
 * @param name - The function's.
 * @returns Until the queue is empty.
 * @throws Error without a mailer.
 */
export async function* readDeadLetters(name: string): AsyncGenerator<Left> {
  const sqs = new SQS(NETWORK);
  const find = async (queue: string): Promise<string> => {
    const { QueueUrl = '' } = await sqs.getQueueUrl({ QueueName: `${name}-${queue}` });
    return QueueUrl;
  };
  const url = await find('mailer-dead-letters');
  for (;;) {
    const { Messages = [] } = await sqs.receiveMessage({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: HIDDEN,
    });
    if (Messages.length === 0) return;
    for (const { Body = '', ReceiptHandle } of Messages) {
      const message = { QueueUrl: url, ReceiptHandle };
      yield {
        ...describe(name, Body, find, sqs),
        remove: async () => sqs.deleteMessage(message),
        release: async () => sqs.changeMessageVisibility({ ...message, VisibilityTimeout: 0 }),
      };
    }
  }
}

function describe(
  name: string,
  body: string,
  find: (queue: string) => Promise<string>,
  sqs: SQS,
): Pick<Left, 'what' | 'repeat'> {
  const {
    requestContext,
    Type,
    Message = body,
  } = (parseObject(body) ?? {}) as {
    requestContext?: { requestId?: string; condition?: string };
    Type?: string;
    Message?: string;
  };
  if (requestContext !== undefined) {
    const { requestId = '', condition = '' } = requestContext;
    return {
      what: `Request ${requestId} of the mailer, given up (${condition})`,
      repeat: async () => {
        const query = `filter message.requestId = "${requestId.replaceAll(/[^\w-]/g, '')}" and message.outcome in ["failed", "deferred"] | display message.inquiry`;
        const rows = await queryLogs(name, 'mailer', query, 14 * 24);
        const ids = rows.flatMap(({ inquiry }) => inquiry ?? []);
        return ids.length > 0 && areDone(await sendMails(name, [...new Set(ids)]));
      },
    };
  }
  const event = parseObject(Type === undefined ? body : Message) ?? {};
  const kind = 'receipt' in event ? 'receiver' : 'mailer';
  return {
    what: `An event of SES for the ${kind}, which has failed for a day`,
    repeat: async () => {
      await sqs.sendMessage({ QueueUrl: await find(`${kind}-events`), MessageBody: body });
      return true;
    },
  };
}
