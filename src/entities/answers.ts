import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from './batches.ts';
import { toShard } from './keys.ts';
import type { InquiryKeys, StoredInquiry } from './inquiry.ts';
import type { Table } from './table.ts';

export type AnswerResult =
  | { status: 'answered'; reply_at: string }
  | { status: 'already-answered'; respondent: string; reply_at: string }
  | { status: 'not-found' }
  /** The item would exceed 400 KB. */
  | { status: 'too-large' };

/** What a respondent has mailed after the answer; `mail` is its hash. */
export type Addition = Pick<NonNullable<StoredInquiry['additions']>[number], 'text' | 'mail'>;

interface Inquiries {
  table: Table;
  now: () => number;
  keyOf: (keys: InquiryKeys) => Item;
  read: (keys: InquiryKeys) => Promise<StoredInquiry | undefined>;
  isShown: (row: Pick<StoredInquiry, 'email' | 'expires_at'>) => boolean;
}

/** The changes of an inquiry, each in one conditional update. */
export function createAnswers({ table, now, keyOf, read, isShown }: Inquiries) {
  const { client, name: TableName } = table;

  /** ElectroDB's `patch` would also set columns that the operators' policy refuses. */
  async function update(
    inquiry: InquiryKeys,
    columns: Item,
    condition: string,
    { values = {}, removed = '' }: { values?: Item; removed?: string } = {},
  ): Promise<'updated' | 'refused' | 'too-large'> {
    const names = Object.keys(columns);
    const command = new UpdateCommand({
      TableName,
      Key: keyOf(inquiry),
      UpdateExpression:
        `SET ${names.map((name) => `${name} = :${name}`).join(', ')} ${removed}`.trimEnd(),
      ConditionExpression: `attribute_exists(pk) AND ${condition}`,
      ExpressionAttributeValues: {
        ...values,
        ...Object.fromEntries(names.map((name): [string, unknown] => [`:${name}`, columns[name]])),
      },
    });
    try {
      await client.send(command);
      return 'updated';
    } catch (error) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another value has neither name
      const { name, message } = error as Error;
      if (name === 'ValidationException' && /item size/i.test(message)) return 'too-large';
      if (name === 'ConditionalCheckFailedException') return 'refused';
      throw error;
    }
  }

  return {
    /**
     * Records an answer or, without `reply`, a dismissal, unless there is one. A hidden inquiry counts as not found:
     * the mailer would not send the reply.
     *
     * @param inquiry - As it was read.
     * @param answer.mail - A hash of the mail with the answer. The same mail succeeds again.
     */
    async answer(
      inquiry: InquiryKeys & Pick<StoredInquiry, 'expires_at'>,
      answer: { reply?: string | undefined; respondent: string; mail?: string; files?: string[] },
    ): Promise<AnswerResult> {
      if (!isShown(inquiry)) return { status: 'not-found' };
      const { reply, respondent, mail, files = [] } = answer;
      const reply_at = new Date(now()).toISOString();
      const columns = { respondent, reply_at, inbox: toShard(inquiry.id, true) };
      const status = await update(
        inquiry,
        {
          ...columns,
          ...(reply !== undefined && { reply }),
          ...(mail && { reply_mail: mail }),
          ...(files.length > 0 && { files }),
        },
        'attribute_not_exists(reply_at)',
      );
      if (status === 'too-large') return { status };
      if (status === 'updated') return { status: 'answered', reply_at };
      const row = await read(inquiry);
      if (row?.reply_at === undefined) return { status: 'not-found' };
      const { respondent: by = '' } = row;
      // The SDK repeats an update after a lost response and finds its own answer.
      const isRepeated =
        mail === undefined
          ? row.reply_at === reply_at && by === respondent && row.reply === reply
          : row.reply_mail === mail;
      if (isRepeated) {
        return { status: 'answered', reply_at: row.reply_at };
      }
      return { status: 'already-answered', respondent: by, reply_at: row.reply_at };
    },
    /**
     * Makes a dismissed inquiry unanswered again.
     *
     * @param dismissedAt - The `reply_at` of the dismissal.
     * @returns Whether that dismissal still stood.
     */
    async reopen(
      inquiry: InquiryKeys & Pick<StoredInquiry, 'expires_at'>,
      dismissedAt: string,
    ): Promise<boolean> {
      if (!isShown(inquiry)) return false;
      const status = await update(
        inquiry,
        { inbox: toShard(inquiry.id, false) },
        'reply_at = :dismissed_at AND attribute_not_exists(reply)',
        { values: { ':dismissed_at': dismissedAt }, removed: 'REMOVE respondent, reply_at' },
      );
      if (status === 'updated') return true;
      // The SDK repeats an update after a lost response.
      const row = await read(inquiry);
      return row !== undefined && row.reply_at === undefined;
    },
    /** Removes an answer's files, which SES has refused. */
    async removeFiles(inquiry: InquiryKeys): Promise<void> {
      const columns = { inbox: toShard(inquiry.id, true) };
      await update(inquiry, columns, 'attribute_exists(files)', { removed: 'REMOVE files' });
    },
    /**
     * Appends a mail to an answer, once.
     *
     * @param inquiry - As it was read.
     * @returns Whether the text fits into the item.
     * @throws Error when the inquiry has changed meanwhile.
     */
    async add(inquiry: StoredInquiry, { text, mail }: Addition): Promise<boolean> {
      const { additions = [] } = inquiry;
      if (additions.some((one) => one.mail === mail)) return true;
      const at = new Date(now()).toISOString();
      const status = await update(
        inquiry,
        { additions: [...additions, { text, at, mail }] },
        additions.length === 0 ? 'attribute_not_exists(additions)' : 'size(additions) = :count',
        additions.length === 0 ? {} : { values: { ':count': additions.length } },
      );
      if (status === 'refused') throw new Error('The inquiry has changed.');
      return status === 'updated';
    },
  };
}
