/** The messages for failures: what happened, what it means for the text, what the user can do. */
import type { Failure } from './api.ts';
import { isolate } from './bidi.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import type { Message } from './languages/strings.ts';
import type { Locale } from './locale.ts';
import type { Size } from './size.ts';

/**
 * The message for an inquiry that was not sent, or whose outcome is unknown.
 *
 * @param now - Milliseconds since the epoch.
 */
export function describeSendFailure(locale: Locale, failure: Failure, now: number): Message {
  return { title: locale.strings.failures[failure.kind], text: explain(locale, failure, now) };
}

function explain(
  { strings: { failures }, count, formatBytes, formatClock }: Locale,
  { kind, mayBeDone, message = '', retryAfter = 0 }: Failure,
  now: number,
): string {
  if (kind === 'reused') return failures.otherVersion;
  if (mayBeDone) {
    return kind === 'signed-out' ? failures.unknownOutcomeSignedOut : failures.unknownOutcome;
  }
  if (kind === 'limit') {
    const minutes = Math.ceil(retryAfter / 60);
    const wait = minutes < 60 ? count(failures.minutes, minutes) : '';
    return failures.notSentLimit(wait, formatClock(now + retryAfter * 1_000));
  }
  const texts: Partial<Record<Failure['kind'], string>> = {
    'signed-out': failures.notSentSignedOut,
    'too-large': failures.notSentTooLarge(formatBytes(ITEM_LIMIT)),
    busy: failures.notSentBusy,
    refused: failures.notSentRefused(isolate(message)).trim(),
    offline: failures.notSentOffline,
  };
  return texts[kind] ?? failures.notSent;
}

/**
 * The message for an attempt whose key the service no longer knows.
 *
 * @param at - When it was made, in milliseconds since the epoch.
 */
export function describeOldAttempt(
  { strings: { failures }, formatTime }: Locale,
  at: number,
): Message {
  const { short } = formatTime(new Date(at).toISOString());
  return { title: failures.oldAttempt, text: failures.oldAttemptText(isolate(short)) };
}

/** The message for a list that could not be loaded. */
export function describeListFailure(
  { strings: { failures } }: Locale,
  { kind, message }: Failure,
): Message {
  const then: Partial<Record<Failure['kind'], string>> = {
    'signed-out': failures.listSignedOut,
    offline: failures.listOffline,
    refused: message ?? '',
  };
  return {
    title: failures[kind],
    text: `${failures.list} ${then[kind] ?? failures.listTryAgain}`.trim(),
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
