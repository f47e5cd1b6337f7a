/** Records of the mails that SES has accepted or refused. */
import type { createDeliveryEntity, DELIVERED_MAILS, NOTICED } from '../entities/delivery.ts';

type DeliveredMail = (typeof DELIVERED_MAILS)[number];
export type Deliveries = ReturnType<typeof createDeliveries>;

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
      {
        inquiry,
        mail,
        expires_at,
        noticed,
      }: {
        readonly inquiry: string;
        readonly mail: DeliveredMail;
        readonly expires_at: unknown;
        readonly noticed?: (typeof NOTICED)[number] | undefined;
      },
      undelivered: 'refused' | 'bounce' | 'complaint',
      abortSignal: AbortSignal,
    ): Promise<void> {
      const until = typeof expires_at === 'number' ? { expires_at } : expiry(UNDELIVERED_RETENTION);
      await deliveries
        .update({ inquiry, mail })
        .set({
          undelivered,
          undelivered_at: new Date().toISOString(),
          ...until,
          ...(noticed !== undefined && { noticed }),
        })
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
