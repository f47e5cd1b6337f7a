import type { Failure, User } from '../api.ts';
import type { Branding } from '../config.ts';
import { ITEM_LIMIT } from '../../../src/limits.ts';
import { toMailbox } from '../../../text/mailbox.ts';
import type { FormState, Status } from '../form/form-state.ts';
import type { Message } from './en.ts';
import type { Locale } from './locale.ts';

/** Milliseconds. */
const MINUTE = 60_000;
/** Bytes from which the size is shown. An item also holds names and keys. */
const WARN_FROM = ITEM_LIMIT * 0.8;

/** Isolates a text's direction (Unicode UAX 9). Empty text stays empty. */
export const isolate = (text: string): string => (text === '' ? '' : `\u2068${text}\u2069`);

export function describeSendFailure(
  { strings: { form, failures }, formatBytes, formatClock, join }: Locale,
  { kind, mayBeDone, message, retryAfter = 0, at }: NonNullable<FormState['failure']>,
): Message {
  const next: Partial<Record<Failure['kind'], string>> = {
    'signed-out': '',
    'too-large': failures.shorten(formatBytes(ITEM_LIMIT)),
    limit: failures.wait(formatClock(Math.ceil(at / MINUTE + retryAfter / 60) * MINUTE)),
    refused: '',
    offline: form.offline,
  };
  const [outcome, then] = mayBeDone
    ? [failures.unknown, failures.trySafely]
    : [failures.nothingSent, next[kind] ?? failures.again];
  const text = join(outcome, failures.textKept, then);
  return { title: failures[kind], text, english: kind === 'refused' ? message : undefined };
}

export function describeStatus(
  locale: Locale,
  status: Exclude<Status, { kind: 'sending' } | { kind: 'announced' }>,
): Message {
  const { form, sent, failures } = locale.strings;
  switch (status.kind) {
    case 'slow':
      return { title: form.slow };
    case 'ready':
      return { title: form.ready, text: locale.join(failures.nothingSent, failures.textKept) };
    case 'elsewhere':
      return { title: sent.title, text: sent.elsewhere };
    case 'connected':
      return { title: form.connected, text: describeSendFailure(locale, status.failure).text };
    case 'old-attempt': {
      const [date, time] = [locale.formatDate(status.at), locale.formatClock(status.at)];
      const text = locale.join(failures.oldAttemptText(date, time), failures.textKept);
      return { title: failures.oldAttempt, text };
    }
  }
}

export function describeListFailure(
  { strings: { failures }, join }: Locale,
  { kind, message }: Failure,
): Message {
  const next: Partial<Record<Failure['kind'], string>> = {
    'signed-out': '',
    offline: failures.listOffline,
    refused: '',
  };
  const text = join(failures.list, next[kind] ?? failures.again);
  return { title: failures[kind], text, english: kind === 'refused' ? message : undefined };
}

export function describeSize({ strings: { form }, formatBytes }: Locale, bytes: number): string {
  if (bytes > ITEM_LIMIT) return form.tooLarge(formatBytes(bytes - ITEM_LIMIT));
  return bytes < WARN_FROM ? '' : form.size(formatBytes(bytes), formatBytes(ITEM_LIMIT));
}

/** Undefined when the user's address takes no mail. */
export function describeAnswer(
  { email }: User,
  { answersFrom }: Branding,
  { strings: { sent } }: Locale,
): string | undefined {
  if (toMailbox(email) === undefined) return undefined;
  const owner = isolate(email);
  return answersFrom === undefined
    ? sent.next(owner)
    : sent.answersFrom(isolate(answersFrom), owner);
}
