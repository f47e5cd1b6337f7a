/** Trials of a version by a deployment (deploy/functions.ts): mailer and receiver without a transport. */
import type { Invocation } from './attempt.ts';
import type { MailerParts } from './mailer.ts';
import type { MailerStore } from './store.ts';

/** Every inquiry exists, was not mailed and is within the quotas; a digest is due, and changes nothing. */
function toTrialStore({ inquiries, deliveries, quotas, ...store }: MailerStore): MailerStore {
  return {
    ...store,
    inquiries: {
      ...inquiries,
      exists: async (...keys) => (await inquiries.exists(...keys)) || true,
    },
    deliveries: {
      ...deliveries,
      read: async (...key) => (await deliveries.read(...key)) && null,
      claimNotice: async (...event) => (await deliveries.claimNotice(...event)) && 'granted',
    },
    quotas: {
      ...quotas,
      claim: async (...place) => {
        await quotas.claim(...place);
        return { granted: true };
      },
      claimNotice: async (...place) => (await quotas.claimNotice(...place)) || true,
      claimPassedOn: async () => true,
      beginDigest: async () => ({}),
      closeHour: async () => new Set(),
      saveDigest: async () => undefined,
    },
  };
}

/**
 * @param create - Makes the mailer or receiver to try.
 * @returns What answers with its result and the recipients of the mails it would have sent.
 * @throws Also for what is only logged.
 */
export const createTrial =
  <Event>(
    store: MailerStore,
    create: (
      parts: Pick<MailerParts, 'store' | 'send' | 'log'>,
    ) => (event: Event, invocation: Invocation) => Promise<unknown>,
  ) =>
  async (event: Event, invocation: Invocation) => {
    const mails: string[] = [];
    const failures: unknown[] = [];
    const handle = create({
      store: toTrialStore(store),
      send: async ({ to }) => void mails.push(to),
      log: ({ outcome, error }) => {
        if (outcome !== 'sent' || error !== undefined) failures.push(error ?? outcome);
      },
    });
    const result = await handle(event, invocation).catch((error: unknown) => {
      failures.push(error);
    });
    if (failures.length > 0) throw new Error('The trial failed.', { cause: failures[0] });
    return { result, mails };
  };
