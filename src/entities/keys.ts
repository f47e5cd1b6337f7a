/** What keys of the table are made of. */
import { createHash } from 'node:crypto';
import { HOUR } from '../limits.ts';

/** No id is higher. */
export const LAST_ID = 'g';

/** The smallest id prefix at a time in milliseconds since the epoch (RFC 9562, 5.7). */
export function toFirstId(milliseconds: number): string {
  const hex = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Partitions of the index `by-state` for unanswered inquiries, and as many for answered ones. docs/adr/0081 */
const SHARDS = 32;

const nameShard = (isAnswered: boolean, number: number): string =>
  `${isAnswered ? 'done' : 'open'}-${number.toString(SHARDS)}`;

/** The partition of the index `by-state` that has an inquiry: the last five bits of its id are random. */
export const toShard = (id: string, isAnswered: boolean): string =>
  nameShard(isAnswered, Number.parseInt(id.slice(-2), 16) % SHARDS || 0);

/** The partitions of the index `by-state` that have the answered, or the unanswered, inquiries. */
export const listShards = (isAnswered: boolean): string[] =>
  Array.from({ length: SHARDS }, (_, number) => nameShard(isAnswered, number));

/** SHA-256 in base64url, 43 characters. */
export const digest = (...texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

/** A person and the hour of a time in milliseconds since the epoch, whatever the email: a hash that names nobody. */
export const toOwnerHour = (sub: string, time: number): string =>
  digest(sub, String(Math.floor(time / HOUR)));
