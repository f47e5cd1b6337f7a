/** The mailer's reads and writes. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { timeOf } from '../contract.ts';
import type { Inquiry } from '../contract.ts';
import { createDeliveryEntity, createQuotaEntity } from '../entities/delivery.ts';
import { toOwnerHour } from '../entities/keys.ts';
import { findInIndex } from '../entities/inquiry-index.ts';
import { createInquiryEntity } from '../entities/inquiry.ts';

/** A row of the table, unchecked. */
export type Row = Readonly<Record<string, unknown>>;
export type MailerStore = ReturnType<typeof createMailerStore>;

type Keys = Pick<Inquiry, 'cognito_sub' | 'email' | 'id'>;
type DeliveredMail = 'inquiry' | 'reply';

/** What an inquiry may do with the quota of its person and hour. */
export type Claim = 'mail' | 'limit-mail' | 'none';

/** Seconds. Longer than the stream keeps a record (24 h). */
const KEPT = 2 * 86_400;

const expiry = () => ({ expires_at: Math.floor(Date.now() / 1_000) + KEPT });

/**
 * Creates the mailer's store. Its methods reject with ElectroDB's error, whose cause is the SDK's. Reads of the table are
 * strongly consistent.
 *
 * @param mailsPerHour - Inquiries of one person (`sub`) that are mailed in one hour.
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
      const keys = await findInIndex(inquiries, id, abortSignal);
      if (keys === undefined) return undefined;
      const { cognito_sub, email } = keys;
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
     * Takes one of the mails of the person and the hour of an inquiry, whatever the email, in one conditional update. The same inquiry gets the
     * same answer again, except that `limit-mail` becomes `none` after {@link recordLimitMail}.
     */
    async claim(inquiry: Keys, abortSignal: AbortSignal): Promise<Claim> {
      const result = await quotas
        .update(toKey(inquiry))
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
        .update(toKey(inquiry))
        .set({ ...expiry(), limit_at: new Date().toISOString() })
        .go({ abortSignal });
    },
  };
}

const toKey = ({ id, cognito_sub }: Keys): { owner_hour: string } => ({
  owner_hour: toOwnerHour(cognito_sub, timeOf(id)),
});
