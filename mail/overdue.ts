/** Sends mails that the stream should have led to. docs/adr/0080 */
import { timeOf } from '../src/contract.ts';
import { toFirstId } from '../src/entities/keys.ts';
import type { DigestState } from '../src/entities/quotas.ts';
import type { IndexedInquiry, InquiryFilter } from '../src/entities/stored-inquiries.ts';
import { HOUR } from '../src/limits.ts';
import { isUnsent, type MailerParts } from './attempt.ts';
import type { Outcome } from './log.ts';
import type { Row } from './rows.ts';

/** Milliseconds for which the stream tries a reply, and a margin. */
const REPLIES_TRIED = 25 * HOUR;
/** Milliseconds. Replies to older inquiries are not looked for. */
const REPLIED_WITHIN = 90 * 24 * HOUR;
/** Milliseconds. Older mails are given up before their delivery records expire. */
const GIVEN_UP = 7 * 24 * HOUR;

/** Milliseconds that are looked at twice, because an inquiry that is being answered may be missing in the index. */
const AGAIN = 5 * 60_000;

type OverdueMail = 'reply' | 'acknowledgement';

export function createOverdue(
  { store, config, now }: MailerParts,
  deliver: (row: Row, mail: OverdueMail) => Promise<Outcome>,
) {
  const { inquiries, deliveries, quotas } = store;

  async function isSent(id: string, mail: OverdueMail, signal: AbortSignal): Promise<boolean> {
    const known = await deliveries.read(id, mail, signal);
    // A record without either is of a reply that was late.
    return known !== null && (known.sent_at !== undefined || known.is_noticed !== false);
  }

  /** @returns Whether the mail is sent or never will be. */
  async function send(
    kind: OverdueMail,
    found: IndexedInquiry,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (await isSent(found.id, kind, signal)) return true;
    const row = await inquiries.read(found, signal);
    const isDismissed = kind === 'reply' && row?.reply === undefined;
    if (row === undefined || isDismissed) return true;
    const isLimited = kind === 'acknowledgement' && row.email_verified === true;
    if (isLimited && !(await quotas.claimEvent('acknowledgements', row.id, signal))) return false;
    return !isUnsent(await deliver(row, kind));
  }

  async function mailAll(
    kind: OverdueMail,
    filter: InquiryFilter,
    isDue: (row: IndexedInquiry) => boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    for await (const page of inquiries.list({ ...filter, abortSignal: signal })) {
      for (const found of page.filter(isDue)) {
        if (!(await send(kind, found, signal))) return found.id;
      }
    }
    return undefined;
  }

  return {
    /** Acknowledges what only a digest names, an hour later. The limit is that of mails about new inquiries. */
    async acknowledgement({ acknowledged }: DigestState, signal: AbortSignal): Promise<void> {
      if (!config.acknowledge) return;
      const until = now() - HOUR;
      const last = acknowledged === undefined ? until : acknowledged - AGAIN;
      const since = Math.max(last, until - GIVEN_UP);
      const range = { since, before: toFirstId(until), order: 'oldest' } as const;
      const left = await mailAll('acknowledgement', range, () => true, signal);
      await quotas.saveDigest({ acknowledged: left === undefined ? until : timeOf(left) }, signal);
    },

    /** Mails replies that the stream, which keeps records for a day, has lost. Runs once an hour: it reads much. */
    async reply({ replied }: DigestState, signal: AbortSignal): Promise<void> {
      const until = Math.floor(now() / HOUR) * HOUR - REPLIES_TRIED;
      const since = Math.max(replied ?? until, until - GIVEN_UP);
      if (since < until) {
        const isDue = ({ reply_at = '' }: IndexedInquiry): boolean =>
          Date.parse(reply_at) >= since && Date.parse(reply_at) < until;
        const all = { isAnswered: true, since: now() - REPLIED_WITHIN };
        if ((await mailAll('reply', all, isDue, signal)) !== undefined) return;
      }
      if (replied !== until) await quotas.saveDigest({ replied: until }, signal);
    },
  };
}
