/** What becomes of a mail that does not arrive, in words. */
export const UNDELIVERED = {
  refused: 'the mail service refused the address',
  bounce: 'the mail came back',
  complaint: 'the recipient reported the mail as spam',
} as const;
