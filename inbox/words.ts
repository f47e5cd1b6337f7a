import { inquiryFields } from '../src/contract.ts';
import { NO_SUBJECT } from '../text/languages.ts';
import { toMailbox } from '../text/mailbox.ts';
import type { Undelivered } from '../src/entities/deliveries.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';

const NEAR_EXPIRY = 7 * 86_400_000;

export const UNDELIVERED = {
  refused: 'was refused',
  bounce: 'came back',
  complaint: 'was reported as spam',
} as const satisfies Record<Undelivered['undelivered'], string>;

/** @returns Milliseconds; undefined when it is answered or far from its expiry. */
export function nearExpiryOf({ reply_at, expires_at }: StoredInquiry): number | undefined {
  if (reply_at !== undefined || expires_at === undefined) return undefined;
  const expiry = expires_at * 1_000;
  return expiry - Date.now() < NEAR_EXPIRY ? expiry : undefined;
}

export const canMail = ({ email }: Pick<StoredInquiry, 'email'>): boolean =>
  toMailbox(email) !== undefined;

export const subjectOf = ({ subject }: Pick<StoredInquiry, 'subject'>): string =>
  subject.trim() === '' ? NO_SUBJECT.en : subject;

export const stateOf = ({ reply, reply_at }: Pick<StoredInquiry, 'reply' | 'reply_at'>) => {
  if (reply_at === undefined) return 'open';
  return reply === undefined ? 'dismissed' : 'answered';
};

/** Fields that are shown nowhere else. */
const FACTS: readonly Exclude<keyof StoredInquiry, 'additions'>[] = [
  ...inquiryFields.filter((name) => !['email', 'subject', 'body'].includes(name)),
  'language',
  'files',
  'expires_at',
];

const LABELS: Partial<Record<keyof StoredInquiry, string>> = {
  id: 'Id',
  cognito_sub: 'Owner',
  created_at: 'Received',
  language: 'Language',
  files: 'Files',
  expires_at: 'Expires',
};

export interface Fact {
  label: string;
  value: string;
  /** In the form of `created_at`. */
  isTime: boolean;
}

export const factsOf = (inquiry: StoredInquiry): Fact[] =>
  FACTS.flatMap((name) => {
    const value = inquiry[name];
    if (value === undefined) return [];
    const label = LABELS[name] ?? name;
    const text =
      typeof value === 'number'
        ? new Date(value * 1_000).toISOString()
        : [value].flat().map(String).join(', ');
    return [{ label, value: text, isTime: name.endsWith('_at') }];
  });

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
] as const;

/** `12d`, `5h`, `3m`, `20s`: rounded down. */
export function formatDuration(milliseconds: number): string {
  const positive = Math.max(0, milliseconds);
  const [unit, name] = UNITS.find(([each]) => positive >= each) ?? [1_000, 's'];
  return `${Math.floor(positive / unit)}${name}`;
}

/** `3h ago`, `in 2d`, `now` within a minute. */
export function formatAge(time: number, now = Date.now()): string {
  const distance = Math.abs(now - time);
  if (distance < 60_000) return 'now';
  return time > now ? `in ${formatDuration(distance)}` : `${formatDuration(distance)} ago`;
}
