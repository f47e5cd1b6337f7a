/** How many mails are sent in an hour. docs/adr/0080 */
import { timeOf } from '../contract.ts';
import { digest, LAST_ID, toOwnerHour } from '../entities/keys.ts';
import type { FullQuota, Quotas } from '../entities/quotas.ts';
import type { InquiryKeys } from '../entities/stored-inquiries.ts';
import { HOUR } from '../limits.ts';
import type { MailerConfig } from './config.ts';

/** Acknowledgements to one address in an hour. */
const ACKNOWLEDGEMENTS = 3;

/** Whether a mail may be sent; otherwise the hour whose quota of all persons is full, if it is that one. */
export type Claim = { granted: true } | { refused: FullHour | undefined };

/** An hour without a place for other inquiries. */
export interface FullHour extends FullQuota {
  hour: string;
}

/** Whether {@link createMailQuotas}' `claim` would refuse an inquiry of this hour. A refused update costs as much as the whole row. */
export const isBeyond = (id: string, full: FullHour | undefined): boolean =>
  full?.hour === hourOf(id) && id < full.closed && !full.mailed.has(id);

/** Creates the quotas. @param config - How many inquiries of one person (`sub`), and of all, are mailed in one hour. */
export function createMailQuotas(
  quotas: Quotas,
  { mailsPerHour, totalMailsPerHour }: MailerConfig,
) {
  /** The hour that was marked last, because an inquiry of it is withheld. */
  let markedHour: string | undefined;
  const grant = { granted: true } as const;

  return {
    beginDigest: quotas.beginDigest,
    saveDigest: quotas.saveDigest,
    closeHour: quotas.close,

    /**
     * Takes one of the mails of the person and the hour of an inquiry, whatever the email, and one of those of all
     * persons. The same inquiry gets the same answer again. A digest has what is refused.
     */
    async claim({ id, cognito_sub }: InquiryKeys, abortSignal: AbortSignal): Promise<Claim> {
      const hour = hourOf(id);
      const ownerHour = toOwnerHour(cognito_sub, timeOf(id));
      const own = await quotas.reserve(ownerHour, id, mailsPerHour, abortSignal);
      if ('refused' in own) {
        if (markedHour !== hour) await quotas.withhold(hour, abortSignal);
        markedHour = hour;
        return { refused: undefined };
      }
      const all = await quotas.reserve(hour, id, totalMailsPerHour, abortSignal);
      if ('granted' in all) return grant;
      const { mailed } = all.refused;
      const closed = mailed.size < totalMailsPerHour ? all.refused.closed : LAST_ID;
      return { refused: { hour, mailed, closed } };
    },

    /** Takes one of the acknowledgements to the address of an inquiry in its hour. */
    async claimAcknowledgement({ id, email }: InquiryKeys, signal: AbortSignal): Promise<Claim> {
      const quota = digest('acknowledgement', email.toLowerCase(), hourOf(id));
      const result = await quotas.reserve(quota, id, ACKNOWLEDGEMENTS, signal);
      return 'granted' in result ? grant : { refused: undefined };
    },

    /** Takes one of the notices of the current hour, of which there are as many as mails about new inquiries. */
    async claimNotice(event: string, abortSignal: AbortSignal): Promise<boolean> {
      const quota = `notices-${Math.floor(Date.now() / HOUR)}`;
      return 'granted' in (await quotas.reserve(quota, event, totalMailsPerHour, abortSignal));
    },

    /** Whether an hour has inquiries for a digest: the quota of all owners, or of one, is used up. */
    async isWithheld(hour: number, abortSignal: AbortSignal): Promise<boolean> {
      const { mailed, isWithheld } = await quotas.read(hour, abortSignal);
      return isWithheld || mailed >= totalMailsPerHour;
    },
  };
}

/** Hours since the epoch. */
const hourOf = (id: string): string => String(Math.floor(timeOf(id) / HOUR));
