/** What the mailer reads and writes: ElectroDB makes keys and inputs, as in src/entities/inquiry-store.ts. */
import { createHash } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Inquiry } from '../contract.ts';
import { createDeliveryEntity, createQuotaEntity } from '../entities/delivery.ts';
import { toAttributes } from '../entities/inquiry-store.ts';
import type { Scalars } from '../entities/inquiry-store.ts';
import { createInquiryEntity, toFirstId } from '../entities/inquiry.ts';
import { HOUR } from '../limits.ts';
import { toHour } from './mails.ts';
import type { Waiting } from './mails.ts';

export type Row = Record<string, AttributeValue>;
export type MailerStore = ReturnType<typeof createMailerStore>;

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;
type DeliveredMail = 'inquiry' | 'reply';

/** What an inquiry may do with the quota of its owner and hour. */
export type Claim = 'mail' | 'limit-mail' | 'none';

/** Seconds. Longer than the stream keeps a record (24 h). */
const KEPT = 2 * 86_400;
/** The most inquiries that are counted for the mail about the limit. */
const COUNT_LIMIT = 1_000;

/**
 * Creates the mailer's store.
 *
 * @param mailsPerHour - Inquiries of one owner that are mailed in one hour.
 * @param now - Milliseconds since the epoch.
 */
export function createMailerStore(
  client: DynamoDBClient,
  { tableName, mailsPerHour }: { tableName: string; mailsPerHour: number },
  now: () => number = Date.now,
) {
  const inquiries = createInquiryEntity(tableName);
  const deliveries = createDeliveryEntity(tableName);
  const quotas = createQuotaEntity(tableName);
  const expiry = () => ({ expires_at: Math.floor(now() / 1_000) + KEPT });

  async function get(
    Key: Row,
    abortSignal: AbortSignal,
    more: { ProjectionExpression?: string } = {},
  ): Promise<Row | undefined> {
    const input = { TableName: tableName, Key, ConsistentRead: true, ...more };
    const { Item } = await client.send(new GetItemCommand(input), { abortSignal });
    return Item;
  }

  const toKey = ({ cognito_sub, email, id }: Keys): Row =>
    toAttributes(inquiries.get({ cognito_sub, email, id }).params<{ Key: Scalars }>().Key);

  const toQuotaUpdate = (inquiry: Keys, set: { expires_at: number; limit_at?: string }) => {
    const { Key, ExpressionAttributeValues, ...input } = quotas
      .update({ owner_hour: toOwnerHour(inquiry) })
      .set(set)
      .params<{
        TableName: string;
        Key: Scalars;
        UpdateExpression: string;
        ExpressionAttributeValues: Scalars;
      }>();
    return {
      ...input,
      Key: toAttributes(Key),
      ExpressionAttributeValues: toAttributes(ExpressionAttributeValues),
    };
  };

  return {
    /** Reads an inquiry by its id, strongly consistent once the index has it. */
    async find(id: string, abortSignal: AbortSignal): Promise<Row | undefined> {
      const { ExpressionAttributeValues, ...input } = inquiries.query
        .byTime({ id })
        .params<{ TableName: string; ExpressionAttributeValues: Record<string, string> }>();
      const query = { ...input, ExpressionAttributeValues: toAttributes(ExpressionAttributeValues) };
      const { Items: [found] = [] } = await client.send(new QueryCommand(query), { abortSignal });
      const { cognito_sub, email } = found ?? {};
      if (cognito_sub?.S === undefined || email?.S === undefined) return undefined;
      return get(toKey({ id, cognito_sub: cognito_sub.S, email: email.S }), abortSignal);
    },

    /** Whether the inquiry is in the table still. */
    async exists(inquiry: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const projection = { ProjectionExpression: 'id' };
      return (await get(toKey(inquiry), abortSignal, projection)) !== undefined;
    },

    async isDelivered(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal): Promise<boolean> {
      const { Key } = deliveries.get({ inquiry, mail }).params<{ Key: Scalars }>();
      return (await get(toAttributes(Key), abortSignal)) !== undefined;
    },

    async recordDelivery(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal): Promise<void> {
      const { Item } = deliveries
        .put({ inquiry, mail, sent_at: new Date(now()).toISOString(), ...expiry() })
        .params<{ Item: Scalars }>();
      const input = { TableName: tableName, Item: toAttributes(Item) };
      await client.send(new PutItemCommand(input), { abortSignal });
    },

    /**
     * Takes one of the mails of the inquiry's owner and hour, in one conditional update. The same inquiry gets the
     * same answer again, except that `limit-mail` becomes `none` after {@link recordLimitMail}.
     */
    async claim(inquiry: Keys, abortSignal: AbortSignal): Promise<Claim> {
      const { UpdateExpression, ...input } = toQuotaUpdate(inquiry, expiry());
      const command = new UpdateItemCommand({
        ...input,
        UpdateExpression: `${UpdateExpression} ADD mailed :ids`,
        ConditionExpression: 'attribute_not_exists(mailed) OR size(mailed) < :limit OR contains(mailed, :id)',
        ExpressionAttributeValues: {
          ...input.ExpressionAttributeValues,
          ':ids': { SS: [inquiry.id] },
          ':id': { S: inquiry.id },
          ':limit': { N: String(mailsPerHour) },
        },
      });
      try {
        await client.send(command, { abortSignal });
        return 'mail';
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
      const quota = await get(input.Key, abortSignal);
      return quota?.['limit_at'] === undefined ? 'limit-mail' : 'none';
    },

    /** Records that the mail about the limit was sent. */
    async recordLimitMail(inquiry: Keys, abortSignal: AbortSignal): Promise<void> {
      const input = toQuotaUpdate(inquiry, { ...expiry(), limit_at: new Date(now()).toISOString() });
      await client.send(new UpdateItemCommand(input), { abortSignal });
    },

    /** Counts the inquiries of the same owner and hour beyond the limit, in one page of a query. */
    async countWaiting({ id, cognito_sub, email }: Keys, abortSignal: AbortSignal): Promise<Waiting> {
      const hour = toHour(id);
      const { ExpressionAttributeValues, ...input } = inquiries.query
        .byOwner({ cognito_sub, email })
        .between({ id: toFirstId(hour) }, { id: toFirstId(hour + HOUR) })
        .params<{ TableName: string; ExpressionAttributeValues: Record<string, string> }>({
          consistent: true,
          limit: mailsPerHour + COUNT_LIMIT,
        });
      const query = {
        ...input,
        ExpressionAttributeValues: toAttributes(ExpressionAttributeValues),
        Select: 'COUNT' as const,
      };
      const { Count = 0, LastEvaluatedKey } = await client.send(new QueryCommand(query), { abortSignal });
      return { count: Math.max(1, Count - mailsPerHour), isExact: LastEvaluatedKey === undefined };
    },
  };
}

/** A hash that does not reveal the owner: `cognito_sub` is random. */
const toOwnerHour = ({ id, cognito_sub, email }: Keys): string =>
  createHash('sha256')
    .update(JSON.stringify([cognito_sub, email, toHour(id)]))
    .digest('hex');
