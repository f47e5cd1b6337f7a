import type { RawMails } from './receiver.ts';

const MAIL = 'From: test@trial.invalid\nSubject: Test\n\nLeft by a deployment.';

export const toTrialMails = ({ read }: RawMails): RawMails => ({
  read: async (id) => (await read(id)) ?? Buffer.from(MAIL),
  archive: async () => undefined,
});
