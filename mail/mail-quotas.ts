/** docs/adr/0080 */
import { timeOf } from '../src/contract.ts';
import { keyedDigest, LAST_ID, toOwnerHour } from '../src/entities/keys.ts';
import type { FullQuota, Quotas } from '../src/entities/quotas.ts';
import type { InquiryKeys } from '../src/entities/stored-inquiries.ts';
import { HOUR } from '../src/limits.ts';
import type { MailerConfig } from './config.ts';

const ACKNOWLEDGEMENTS = 3;
/** Received mails that are forwarded in an hour: those of strangers, and those to one inquiry's address. */
const FORWARDED = 20;
const FORWARDED_ABOUT = 5;
/** Mails of a day that are counted. A row has room for them. */
const WITHHELD = 1_000;
const READINGS = 3;

/** `refused` is the hour if the quota of all persons is full. */
type Claim = { granted: true } | { refused: FullHour | undefined };

export interface FullHour extends FullQuota {
  hour: string;
}

/** Whether `claim` would refuse. A refused update costs as much as the whole row. */
export const isBeyond = (id: string, full: FullHour | undefined): boolean =>
  full?.hour === hourOf(id) && id < full.closed && !full.mailed.has(id);

export function createMailQuotas(
  quotas: Quotas,
  { mailsPerHour, totalMailsPerHour, hashKey = '' }: MailerConfig,
  now: () => number = Date.now,
) {
  let markedHour: string | undefined;
  const grant = { granted: true } as const;
  /** Mails in an hour. Most kinds have the limit of mails about new inquiries. */
  const limits = {
    notices: totalMailsPerHour,
    acknowledgements: totalMailsPerHour,
    forwarded: FORWARDED,
  };
  const isGranted = async (...place: Parameters<Quotas['reserve']>): Promise<boolean> =>
    'granted' in (await quotas.reserve(...place));

  return {
    ...quotas,

    /** Claims a mail of the person and of all in the inquiry's hour. A retry has the same result. */
    async claim({ id, cognito_sub }: InquiryKeys, abortSignal: AbortSignal): Promise<Claim> {
      const hour = hourOf(id);
      const ownerHour = toOwnerHour(hashKey, cognito_sub, timeOf(id));
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

    async claimAcknowledgement({ id, email }: InquiryKeys, signal: AbortSignal): Promise<Claim> {
      const quota = keyedDigest(hashKey, 'acknowledgement', email.toLowerCase(), hourOf(id));
      const result = await quotas.reserve(quota, id, ACKNOWLEDGEMENTS, signal);
      return 'granted' in result ? grant : { refused: undefined };
    },

    /** @param inquiry - Has a budget of its own. Undefined: the budget is that of all. */
    async claimEvent(
      kind: keyof typeof limits,
      event: string,
      signal: AbortSignal,
      inquiry?: string,
    ): Promise<boolean> {
      const hour = `${kind}-${Math.floor(now() / HOUR)}`;
      return inquiry === undefined
        ? isGranted(hour, event, limits[kind], signal)
        : isGranted(`${hour}-${inquiry}`, event, FORWARDED_ABOUT, signal);
    },

    claimReturned: async (kind: string, event: string, signal: AbortSignal): Promise<boolean> =>
      isGranted(keyedDigest(hashKey, kind), event, 1, signal),

    /** Remembers a received mail of which nobody is told before the daily mail. */
    recordWithheld: async (event: string, time: number, signal: AbortSignal): Promise<boolean> =>
      isGranted(withheldOn(time), event, WITHHELD, signal),

    countWithheld: async (time: number, signal: AbortSignal): Promise<number> =>
      (await quotas.read(withheldOn(time), signal)).mailed,

    beginReading: async (mail: string, invocation: string, signal: AbortSignal): Promise<boolean> =>
      isGranted(`reading-${mail}`, invocation, READINGS, signal),

    endReading: async (mail: string, invocation: string, signal: AbortSignal): Promise<void> =>
      quotas.release(`reading-${mail}`, invocation, signal),

    async isWithheld(hour: number, abortSignal: AbortSignal): Promise<boolean> {
      const { mailed, isWithheld } = await quotas.read(String(hour), abortSignal);
      return isWithheld || mailed >= totalMailsPerHour;
    },
  };
}

const hourOf = (id: string): string => String(Math.floor(timeOf(id) / HOUR));

/** The day in UTC. */
const withheldOn = (time: number): string =>
  `withheld-${new Date(time).toISOString().slice(0, 10)}`;
