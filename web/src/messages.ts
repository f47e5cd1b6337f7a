/** What is said about failures (what happened, what it means for the text, what the user can do), sizes and answers. */
import type { Failure } from './api.ts';
import { isolate } from './bidi.ts';
import type { Branding } from './config.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import { toMailbox } from '../../src/mailbox.ts';
import type { Message } from './languages/strings.ts';
import type { Locale } from './locale.ts';
import type { Size } from './size.ts';
import type { User } from './user.ts';

/**
 * The message for an inquiry that was not sent, or whose outcome is unknown.
 *
 * @param now - Milliseconds since the epoch.
 */
export function describeSendFailure(locale: Locale, failure: Failure, now: number): Message {
  return { title: locale.strings.failures[failure.kind], text: explain(locale, failure, now) };
}

function explain(
  { strings: { form, failures }, count, formatBytes, formatClock, join }: Locale,
  { kind, mayBeDone, message = '', retryAfter = 0 }: Failure,
  now: number,
): string {
  if (kind === 'reused') return failures.otherVersion;
  if (mayBeDone) {
    const next = kind === 'signed-out' ? failures.signInToFinish : failures.trySafely;
    return join(failures.unknown, failures.textKept, next);
  }
  const minutes = Math.ceil(retryAfter / 60);
  const next: Partial<Record<Failure['kind'], string>> = {
    'signed-out': failures.signInToSend,
    'too-large': failures.shorten(formatBytes(ITEM_LIMIT)),
    limit: failures.wait(
      minutes < 60 ? count(failures.minutes, minutes) : '',
      formatClock(now + retryAfter * 1_000),
    ),
    refused: isolate(message),
    offline: form.offline,
  };
  return join(failures.nothingSent, failures.textKept, next[kind] ?? failures.again);
}

/**
 * The message for an attempt whose key the service no longer knows.
 *
 * @param at - When it was made, in milliseconds since the epoch.
 */
export function describeOldAttempt(
  { strings: { failures }, formatTime, join }: Locale,
  at: number,
): Message {
  const { short } = formatTime(new Date(at).toISOString());
  const text = join(failures.oldAttemptText(isolate(short)), failures.textKept);
  return { title: failures.oldAttempt, text };
}

/** The message for a list that could not be loaded. */
export function describeListFailure(
  { strings: { failures }, join }: Locale,
  { kind, message }: Failure,
): Message {
  const then: Partial<Record<Failure['kind'], string>> = {
    'signed-out': failures.listSignedOut,
    offline: failures.listOffline,
    refused: message ?? '',
  };
  return {
    title: failures[kind],
    text: join(failures.list, then[kind] ?? failures.again),
  };
}

/** What is said about the size of an inquiry; empty below the warning level. */
export function describeSize(
  { strings: { form }, formatBytes }: Locale,
  { bytes, level }: Size,
): string {
  if (level === 'over') return form.tooLarge(formatBytes(bytes - ITEM_LIMIT));
  return level === 'near' ? form.size(formatBytes(bytes), formatBytes(ITEM_LIMIT)) : '';
}

/** Says where the answer comes from and goes to; undefined when no mail can go to the address. */
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
