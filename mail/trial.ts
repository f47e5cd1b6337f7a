/** Trials of a version by a deployment (deploy/checks/version.ts): mailer and receiver without a transport. */
import type { Invocation, MailerParts } from './attempt.ts';
import type { MailerStore } from './store.ts';
import { LAST_ID } from '../src/entities/keys.ts';

/**
 * In a trial, each inquiry exists, was not mailed and is within the quotas. A digest is due and changes nothing. Each
 * address is one of this stage, so that the mail to it is read.
 */
function toTrialStore({ addresses, inquiries, deliveries, quotas }: MailerStore): MailerStore {
  return {
    addresses: addresses && {
      ...addresses,
      parse: async (...address) =>
        (await addresses.parse(...address)) ?? { kind: 'r', id: LAST_ID },
    },
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
      beginReading: async () => true,
      endReading: async () => undefined,
      claimEvent: async (...place) => (await quotas.claimEvent(...place)) || true,
      beginDigest: async () => ({}),
      closeHour: async () => new Set(),
      saveDigest: async () => undefined,
    },
  };
}

/**
 * @param create - Makes mailer or receiver.
 * @param changes - For trials.
 * @returns A handler of events. With `trial`, it returns the result and the recipients of mails that would have been
 * sent, and throws also what is only logged otherwise.
 */
export function withTrial<Parts extends MailerParts, Event extends object>(
  create: (parts: Parts) => (event: Event, invocation: Invocation) => Promise<unknown>,
  parts: Parts,
  changes: Partial<Parts> = {},
) {
  const handle = create(parts);
  return async (event: Event, invocation: Invocation) => {
    if (!('trial' in event)) return handle(event, invocation);
    const mails: string[] = [];
    const failures: unknown[] = [];
    const tryEvent = create({
      ...parts,
      ...changes,
      store: toTrialStore(parts.store),
      send: async ({ to }) => void mails.push(to),
      log: ({ outcome, error }) => {
        if (outcome !== 'sent' || error !== undefined) failures.push(error ?? outcome);
      },
    });
    const result = await tryEvent(event, invocation).catch((error: unknown) => {
      failures.push(error);
    });
    if (failures.length > 0) throw new Error('The trial failed.', { cause: failures[0] });
    return { result, mails };
  };
}
