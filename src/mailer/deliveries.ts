/** Records of the mails that SES has accepted or refused. */
import type { Row } from './rows.ts';
import type { createDeliveryEntity, DELIVERED_MAILS } from '../entities/delivery.ts';

type DeliveredMail = (typeof DELIVERED_MAILS)[number];

interface Undelivered {
  mail: DeliveredMail;
  undelivered: 'refused' | 'bounce' | 'complaint';
  is_noticed?: boolean;
}

/** Seconds. Longer than the stream keeps a record (24 h). */
const RETENTION = 2 * 86_400;

/** Seconds that it is known, at most, that a mail did not arrive: the longest that an inquiry is kept, a century. */
const UNDELIVERED_RETENTION = 36_500 * 86_400;

export const expiry = (kept = RETENTION) => ({ expires_at: Math.floor(Date.now() / 1_000) + kept });

export function createDeliveries(deliveries: ReturnType<typeof createDeliveryEntity>) {
  return {
    async read(inquiry: string, mail: DeliveredMail, abortSignal: AbortSignal) {
      return (await deliveries.get({ inquiry, mail }).go({ consistent: true, abortSignal })).data;
    },

    /** @param since - When the mail was begun: what is known of it since then is kept. */
    async record(
      inquiry: string,
      mail: DeliveredMail,
      since: string,
      abortSignal: AbortSignal,
    ): Promise<void> {
      await deliveries
        .put({ inquiry, mail, sent_at: new Date().toISOString(), ...expiry() })
        .where(
          ({ undelivered_at }, { lt, notExists }) =>
            `${notExists(undelivered_at)} OR ${lt(undelivered_at, since)}`,
        )
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
    },

    /** Records that a mail is not with its recipient, for as long as the row of the inquiry is kept. */
    async recordUndelivered(
      { id, expires_at }: Row,
      state: Undelivered,
      abortSignal: AbortSignal,
    ): Promise<void> {
      const { mail, ...columns } = state;
      const until = typeof expires_at === 'number' ? { expires_at } : expiry(UNDELIVERED_RETENTION);
      const undelivered_at = new Date().toISOString();
      await deliveries
        .update({ inquiry: String(id), mail })
        .set({ ...columns, undelivered_at, ...until })
        .go({ abortSignal });
    },

    /**
     * Claims the notice about an event for an invocation. When the invocation fails, Lambda repeats it with the same id
     * (docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html); the same event from SNS again has another one.
     *
     * @returns False when another invocation sends it, or it is sent.
     */
    async claimNotice(event: string, invocation: string, abortSignal: AbortSignal) {
      const { rejected } = await deliveries
        .update({ inquiry: event, mail: 'notice' })
        .set({ claimed_by: invocation, ...expiry() })
        .where(
          ({ claimed_by, sent_at }, { eq, notExists }) =>
            `${notExists(sent_at)} AND (${notExists(claimed_by)} OR ${eq(claimed_by, invocation)})`,
        )
        .go({ abortSignal, returnOnConditionCheckFailure: 'all_old' });
      return !rejected;
    },
  };
}
