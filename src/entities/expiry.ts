/** DynamoDB deletes expired rows up to days later. docs/adr/0084 */

/** @param expires_at - Seconds since the epoch; absent: never. @param time - Milliseconds. */
export const isCurrent = ({ expires_at }: { expires_at?: unknown }, time: number): boolean =>
  !(Number(expires_at) * 1_000 <= time);

/** The mailer's records are kept for two days, because a stream repeats an event for one. */
export const expireRecord = (seconds = 2 * 86_400) => ({
  expires_at: toExpiry(Date.now(), seconds),
});

/** @param time - Milliseconds. @returns Seconds since the epoch. */
export const toExpiry = (time: number, seconds: number): number =>
  Math.floor(time / 1_000) + seconds;
