/** The messages for failures: what happened, what it means for the text, what the user can do. */
import type { Failure } from './api.ts';
import { formatBytes } from './format.ts';
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
  refused: 'The service did not accept this',
  offline: 'You are offline',
  unreachable: 'The service does not answer',
  server: 'Something went wrong on our side',
};

/**
 * The message for an inquiry that was not sent.
 *
 * @param isKnown - Whether it is certain that the inquiry was not stored.
 */
export function describeSendFailure({ kind, mayBeDone, message }: Failure, isKnown: boolean): Message {
  return { title: TITLES[kind], text: explain() };

  function explain(): string {
    if (kind === 'signed-out') {
      return 'Nothing was sent. Your text is kept: sign in again and it is ready to send.';
    }
    if (kind === 'too-large') {
      return `Nothing was sent. Subject and message together may take ${formatBytes(ITEM_LIMIT)}; please shorten them.`;
    }
    if (kind === 'busy') return 'Nothing was sent. Your text is kept; please try again in a minute.';
    if (kind === 'refused') return `Nothing was sent. Your text is kept. ${message ?? ''}`.trim();
    if (!isKnown) {
      return 'We cannot tell yet whether your inquiry arrived. Your text is kept. “Try again” looks first, so nothing is sent twice.';
    }
    return mayBeDone
      ? 'We have looked: your inquiry did not arrive. Your text is kept; please try again.'
      : 'Nothing was sent. Your text is kept; please try again.';
  }
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
