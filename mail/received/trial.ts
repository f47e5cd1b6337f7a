import type { RawMails } from './receiver.ts';

const MAIL = 'From: test@trial.invalid\nSubject: Test\n\nLeft by a deployment.';

/** Has a mail of its own in place of one that is missing. */
export const toTrialMails = ({ read }: RawMails): RawMails => ({
  read: async (id) => (await read(id)) ?? Buffer.from(MAIL),
  archive: async () => undefined,
});
