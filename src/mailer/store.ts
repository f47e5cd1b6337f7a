/** The mailer's reads and writes. */
import { createHash } from 'node:crypto';
import type { DynamoDBDocumentClient, QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { Inquiry } from '../contract.ts';
import { createDeliveryEntity, createQuotaEntity } from '../entities/delivery.ts';
import { toFirstId } from '../entities/ids.ts';
import { createInquiryEntity } from '../entities/inquiry.ts';
import { HOUR } from '../limits.ts';
import { toHour } from './mails.ts';
import type { Waiting } from './mails.ts';

/** A row of the table, unchecked. */
export type Row = Readonly<Record<string, unknown>>;
export type MailerStore = ReturnType<typeof createMailerStore>;

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;
type DeliveredMail = 'inquiry' | 'reply';

/** What an inquiry may do with the quota of its owner and hour. */
export type Claim = 'mail' | 'limit-mail' | 'none';

/** Seconds. Longer than the stream keeps a record (24 h). */
const KEPT = 2 * 86_400;
/** The most inquiries that are counted for the mail about the limit. */
const COUNT_LIMIT = 1_000;

const expiry = () => ({ expires_at: Math.floor(Date.now() / 1_000) + KEPT });

/**
 * Creates the mailer's store. Its methods reject with ElectroDB's error, whose cause is the SDK's. Reads of the table are
 * strongly consistent.
 *
 * @param mailsPerHour - Inquiries of one owner that are mailed in one hour.
 */
export function createMailerStore(
  client: DynamoDBDocumentClient,
  { tableName, mailsPerHour }: { tableName: string; mailsPerHour: number },
) {
  const inquiries = createInquiryEntity(tableName, client);
  const deliveries = createDeliveryEntity(tableName, client);
  const quotas = createQuotaEntity(tableName, client);

  return {
    /** Finds an inquiry by its id, once the index has it. */
    async find(id: string, abortSignal: AbortSignal): Promise<Row | undefined> {
      // Rows of the index have no `__edb_v__`: ElectroDB would recognize them by parsing their keys, which fails if the
      // email has a line end.
      const { data } = await inquiries.query.byTime({ id }).go({ data: 'raw', abortSignal });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of `data` does not know `raw`
      const { Items: [found] = [] } = data as unknown as QueryCommandOutput;
      if (found === undefined) return undefined;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every row of the index has both
      const { cognito_sub, email } = found as Keys;
      const row = await inquiries.get({ cognito_sub, email, id }).go({ consistent: true, abortSignal });
      return row.data ?? undefined;
    },

    /** Whether the inquiry is still in the table. */
    async exists({ cognito_sub, email, id }: Keys, abortSignal: AbortSignal): Promise<boolean> {
      const { data } = await inquiries
        .get({ cognito_sub, email, id })
        .go({ attributes: ['id'], consistent: true, abortSignal });
      return data !== null;
    },

    async isDelivered(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal): Promise<boolean> {
      const { data } = await deliveries.get({ inquiry, mail }).go({ consistent: true, abortSignal });
      return data !== null;
    },

    async recordDelivery(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal): Promise<void> {
      const sent_at = new Date().toISOString();
      await deliveries.put({ inquiry, mail, sent_at, ...expiry() }).go({ abortSignal });
    },

    /**
     * Takes one of the mails of the inquiry's owner and hour, in one conditional update. The same inquiry gets the
     * same answer again, except that `limit-mail` becomes `none` after {@link recordLimitMail}.
     */
    async claim(inquiry: Keys, abortSignal: AbortSignal): Promise<Claim> {
      const result = await quotas
        .update({ owner_hour: toOwnerHour(inquiry) })
        .set(expiry())
        .add({ mailed: [inquiry.id] })
        .where(
          ({ mailed }, { contains, escape, notExists, size }) =>
            `${notExists(mailed)} OR ${size(mailed)} < ${escape(mailsPerHour)} OR ${contains(mailed, inquiry.id)}`,
        )
        .go({ returnOnConditionCheckFailure: 'all_old', abortSignal });
      if (!result.rejected) return 'mail';
      return result.data?.limit_at === undefined ? 'limit-mail' : 'none';
    },

    /** Records that the mail about the limit was sent. */
    async recordLimitMail(inquiry: Keys, abortSignal: AbortSignal): Promise<void> {
      await quotas
        .update({ owner_hour: toOwnerHour(inquiry) })
        .set({ ...expiry(), limit_at: new Date().toISOString() })
        .go({ abortSignal });
    },

    /** Counts the inquiries of the same owner and hour beyond the limit, in one page of a query. */
    async countWaiting({ id, cognito_sub, email }: Keys, abortSignal: AbortSignal): Promise<Waiting> {
      const hour = toHour(id);
      const { data } = await inquiries.query
        .byOwner({ cognito_sub, email })
        .between({ id: toFirstId(hour) }, { id: toFirstId(hour + HOUR) })
        .go({
          consistent: true,
          limit: mailsPerHour + COUNT_LIMIT,
          abortSignal,
          // DynamoDB counts without sending the rows; ElectroDB has no option for that.
          params: { Select: 'COUNT' },
          data: 'raw',
        });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of `data` does not know `raw`
      const { Count = 0, LastEvaluatedKey } = data as unknown as QueryCommandOutput;
      return { count: Math.max(1, Count - mailsPerHour), isExact: LastEvaluatedKey === undefined };
    },
  };
}

/** A hash that does not reveal the owner: `cognito_sub` is random. */
const toOwnerHour = ({ id, cognito_sub, email }: Keys): string =>
  createHash('sha256')
    .update(JSON.stringify([cognito_sub, email, toHour(id)]))
    .digest('hex');
