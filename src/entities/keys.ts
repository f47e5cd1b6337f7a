import { createHash, createHmac } from 'node:crypto';
import { HOUR } from '../limits.ts';

/** Sorts after every id. */
export const LAST_ID = 'g';

/** The smallest id prefix of a time in milliseconds (RFC 9562, 5.7). */
export function toFirstId(milliseconds: number): string {
  const hex = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The partition in the index, by an id's last digit, which is random. docs/adr/0081 */
export const toShard = (id: string, isAnswered: boolean): string =>
  `${isAnswered ? 'answered' : 'open'}-${id.slice(-1)}`;

export const DIGITS = Array.from('0123456789abcdef');

/** SHA-256 in base64url, 43 characters. */
export const digest = (...texts: string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

/** For texts that could be guessed. The key is not in the table. @returns 43 characters. */
export const keyedDigest = (key: string, ...texts: string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(texts)).digest('base64url');

/** @param time - Milliseconds. */
export const toOwnerHour = (key: string, sub: string, time: number): string =>
  keyedDigest(key, sub, String(Math.floor(time / HOUR)));
