import { createTrial } from '../mailer/trial.ts';
import { createReceiver, type ReceiverParts } from './receiver.ts';

const MAIL = 'From: test@trial.invalid\nSubject: Test\n\nLeft by a deployment.';

/** With a mail of its own in place of one that is missing. */
export const createReceiverTrial = ({ rawMails: { read }, ...parts }: ReceiverParts) =>
  createTrial(parts.store, (silent) =>
    createReceiver({
      ...parts,
      ...silent,
      rawMails: {
        read: async (id) => (await read(id)) ?? Buffer.from(MAIL),
        remove: async () => undefined,
      },
    }),
  );
