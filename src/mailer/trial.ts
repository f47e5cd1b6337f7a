/** A trial of a version by a deployment (deploy/functions.ts): the mailer without a transport. */
import type { Invocation, Sender } from './attempt.ts';
import { createMailer } from './mailer.ts';
import type { MailerStore } from './store.ts';

type Parts = Omit<Sender, 'attempt'>;

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
    },
    quotas: {
      ...quotas,
      claim: async (...place) => {
        await quotas.claim(...place);
        return { granted: true };
      },
      claimNotice: async (...place) => (await quotas.claimNotice(...place)) || true,
      beginDigest: async () => ({}),
      closeHour: async () => new Set(),
      saveDigest: async () => undefined,
    },
  };
}

/**
 * @returns A mailer that answers with the recipients of the mails it would have sent.
 * @throws Also for what the mailer only logs.
 */
export const createTrial =
  ({ store, config, now }: Parts) =>
  async (event: unknown, invocation: Invocation) => {
    const mails: string[] = [];
    const failures: unknown[] = [];
    const handle = createMailer({
      store: toTrialStore(store),
      send: async ({ to }) => void mails.push(to),
      config,
      now,
      log: ({ outcome, error }) => {
        if (outcome !== 'sent' || error !== undefined) failures.push(error ?? outcome);
      },
    });
    const result = await handle(event, invocation);
    if (failures.length > 0) throw new Error('The trial failed.', { cause: failures[0] });
    return { result, mails };
  };
