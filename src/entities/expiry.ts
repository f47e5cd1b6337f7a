/** Rows expire to the second; DynamoDB deletes them up to days later. docs/adr/0084 */

/** Whether a row has not expired. @param expires_at - Seconds since the epoch; absent: it is kept for ever. @param time - Milliseconds. */
export const isCurrent = ({ expires_at }: { expires_at?: unknown }, time: number): boolean =>
  !(Number(expires_at) * 1_000 <= time);

/** The expiry of what is kept for some seconds from a time in milliseconds. @returns Seconds since the epoch. */
export const toExpiry = (time: number, seconds: number): number =>
  Math.floor(time / 1_000) + seconds;
