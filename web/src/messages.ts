/** The messages for failures: what happened, what it means for the text, what the user can do. */
import type { Failure } from './api.ts';
import { formatBytes, formatClock, formatCount, formatTime } from './format.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import type { Size } from './size.ts';

export interface Message {
  readonly title: string;
  readonly text: string;
}

const TITLES: Record<Failure['kind'], string> = {
  'signed-out': 'Your session has ended',
  'too-large': 'Your inquiry is too large',
  busy: 'The service is very busy',
  limit: 'You have reached the hourly limit',
  conflict: 'Your inquiry is still being processed',
  reused: 'An earlier version of this inquiry was sent already',
  refused: 'The service did not accept this',
  offline: 'You are offline',
  unreachable: 'The service does not answer',
  server: 'Something went wrong on our side',
};

/**
 * The message for an inquiry that was not sent, or whose outcome is unknown.
 *
 * @param now - Milliseconds since the epoch.
 */
export function describeSendFailure(
  { kind, mayBeDone, message, retryAfter = 0 }: Failure,
  now: number,
): Message {
  return { title: TITLES[kind], text: explain() };

  function explain(): string {
    if (kind === 'reused') return 'It is in your list. Your text is kept; do you want to send it as well?';
    if (mayBeDone) {
      const action = kind === 'signed-out' ? 'Sign in again and it is sent again' : '“Try again” is safe';
      return `We cannot tell yet whether your inquiry arrived. Your text is kept. ${action}: it is stored once.`;
    }
    if (kind === 'signed-out') {
      return 'Nothing was sent. Your text is kept: sign in again and it is ready to send.';
    }
    if (kind === 'too-large') {
      return `Nothing was sent. Subject and message together may take ${formatBytes(ITEM_LIMIT)}; please shorten them.`;
    }
    if (kind === 'limit') {
      const minutes = Math.ceil(retryAfter / 60);
      const wait = minutes < 60 ? `in ${formatCount(minutes, 'minute')}, ` : '';
      const time = formatClock(now + retryAfter * 1_000);
      return `Nothing was sent: you have sent as many inquiries as the service takes in an hour. Your text is kept; you can send it ${wait}at ${time}.`;
    }
    if (kind === 'busy') return 'Nothing was sent. Your text is kept; please try again in a minute.';
    if (kind === 'refused') return `Nothing was sent. Your text is kept. ${message ?? ''}`.trim();
    return 'Nothing was sent. Your text is kept; please try again.';
  }
}

/**
 * The message for an attempt of which the service no longer knows the key.
 *
 * @param at - When it was made, in milliseconds since the epoch.
 */
export function describeOldAttempt(at: number): Message {
  return {
    title: 'Please check your list',
    text: `An attempt to send this on ${formatTime(new Date(at).toISOString()).short} may have succeeded; if so, your list shows it. Your text is kept.`,
  };
}

/** The message for a list that could not be loaded. */
export function describeListFailure({ kind, message }: Failure): Message {
  const what = 'Your inquiries could not be loaded.';
  const then: Partial<Record<Failure['kind'], string>> = {
    'signed-out': 'Sign in again to see them.',
    offline: 'Please try again when you are connected.',
    refused: message ?? '',
  };
  return { title: TITLES[kind], text: `${what} ${then[kind] ?? 'Please try again in a moment.'}`.trim() };
}

/** The warning about the size of an inquiry; undefined below the warning level. */
export function describeSize({ bytes, level }: Size): string | undefined {
  if (level === 'over') return `Too large by ${formatBytes(bytes - ITEM_LIMIT)}. Please shorten the message.`;
  return level === 'near' ? `Almost full: ${formatBytes(ITEM_LIMIT - bytes)} left.` : undefined;
}
