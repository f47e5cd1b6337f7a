/** A trial of a version by a deployment (deploy/functions.ts): the receiver with a mail of its own, without a transport. */
import type { SQSEvent } from 'aws-lambda';
import { createAttempt, type Invocation } from '../mailer/attempt.ts';
import { readEvents } from './events.ts';
import { createReceiver, type ReceiverParts } from './receiver.ts';

const MAIL = 'From: test@trial.invalid\nSubject: Test\n\nLeft by a deployment.';

/**
 * @returns What answers with the recipients of the mails that the receiver would have sent.
 * @throws Also for what the receiver only logs.
 */
export const createTrial =
  ({ rawMails, store, ...parts }: Omit<ReceiverParts, 'attempt'>) =>
  async (event: SQSEvent, invocation: Invocation) => {
    const mails: string[] = [];
    const failures: unknown[] = [];
    const receive = createReceiver({
      ...parts,
      store: {
        ...store,
        deliveries: {
          ...store.deliveries,
          claimNotice: async () => 'granted',
          record: async () => undefined,
        },
        quotas: { ...store.quotas, claimPassedOn: async () => true },
      },
      rawMails: {
        read: async (id) => (await rawMails.read(id)) ?? Buffer.from(MAIL),
        remove: async () => undefined,
      },
      send: async ({ to }) => void mails.push(to),
      attempt: createAttempt(({ outcome, error }) => {
        if (outcome !== 'sent' || error !== undefined) failures.push(error ?? outcome);
      }),
    });
    for (const { ses, claimant } of readEvents(event)) {
      await receive(ses, claimant, invocation).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new Error('The trial failed.', { cause: failures[0] });
    return { mails };
  };
