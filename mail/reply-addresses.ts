/** Addresses of the receiver contain the id of an inquiry and a code that only this stage can make. docs/adr/0085 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { toExpiry } from '../src/entities/expiry.ts';
import type { ReplyKeys } from '../src/entities/reply-keys.ts';
import { isInquiryId } from './rows.ts';

/** `r`: a mail to it is the team's answer. `f`: it is the owner's next inquiry. */
export type ReplyKind = 'r' | 'f';

/** Seconds of a month, of the 90 days for which an address is valid, and of a day for time zones. */
const KEPT = (31 + 90 + 1) * 86_400;
/** 96 bits in hexadecimal. The local part then has 62 of 64 characters (RFC 5321, 4.5.3.1.1). */
const CODE_LENGTH = 24;

const ADDRESS = /^([rf])(\d{4})-([\da-f]{32})([\da-f]{24})@(.+)$/;

const toCode = (secret: string, kind: ReplyKind, id: string): string =>
  createHmac('sha256', secret).update(`${kind} ${id}`).digest('hex').slice(0, CODE_LENGTH);

export function createReplyAddresses(
  keys: ReplyKeys,
  domain: string,
  now: () => number = Date.now,
) {
  return {
    async create(kind: ReplyKind, id: string, signal: AbortSignal): Promise<string> {
      const date = new Date(now());
      const month = date.toISOString().slice(2, 7).replace('-', '');
      const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
      const secret =
        (await keys.read(month, now(), signal)) ??
        (await keys.make(month, toExpiry(start, KEPT), signal));
      return `${kind}${month}-${id.replaceAll('-', '')}${toCode(secret, kind, id)}@${domain}`;
    },

    /** Mail programs may change the case. @returns undefined if this stage has not made the address. */
    async parse(address: string, signal: AbortSignal) {
      const [, letter, month = '', hex = '', code = '', host] =
        ADDRESS.exec(address.toLowerCase()) ?? [];
      const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      if (host !== domain || !isInquiryId(id)) return undefined;
      const kind: ReplyKind = letter === 'f' ? 'f' : 'r';
      const secret = await keys.read(month, now(), signal);
      if (secret === undefined) return undefined;
      const isOurs = timingSafeEqual(Buffer.from(code), Buffer.from(toCode(secret, kind, id)));
      return isOurs ? { kind, id } : undefined;
    },
  };
}
