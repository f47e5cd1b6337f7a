import type { Inquiry } from '../../../src/contract.ts';
import type { Failure } from '../api.ts';
import type { Draft } from './drafts.ts';
import { EMPTY, hasText, isSame, type Texts } from './fields.ts';
import { isUnsure } from './submission.ts';

export interface FormState {
  draft: Draft;
  isKept: boolean;
  isSending: boolean;
  isMissing: boolean;
  isLimited: boolean;
  /** `at`: milliseconds. */
  failure?: (Failure & { at: number }) | undefined;
  /** Shown in the failure's place. */
  status?: Status | undefined;
  /** Shown in the fields' place. */
  sent?: Inquiry | undefined;
}

export type Status =
  | { kind: 'sending' }
  | { kind: 'slow' | 'ready' | 'elsewhere' }
  | { kind: 'connected'; failure: Failure & { at: number } }
  /** The service has forgotten the key. */
  | { kind: 'old-attempt'; at: number }
  /** For screen readers only. */
  | { kind: 'announced'; text: string };

/** `at`: milliseconds. */
export type Action =
  | { type: 'edited'; texts: Texts }
  | { type: 'found-missing' }
  | { type: 'started'; at: number }
  | { type: 'failed'; failure: Failure; at: number }
  | { type: 'sent'; inquiry: Inquiry }
  | { type: 'sent-elsewhere'; inquiry: Inquiry; key: string }
  | { type: 'renewed' }
  | { type: 'hour-ended' }
  | { type: 'connected' }
  | { type: 'signing-in'; isSending: boolean }
  | { type: 'said'; status: Status }
  | { type: 'another' };

export const begin = (draft: Draft): FormState => ({
  draft,
  isKept: true,
  isSending: false,
  isMissing: false,
  isLimited: false,
});

/** @param newKey - Of a next draft. */
export function reduce(state: FormState, action: Action, newKey: string): FormState {
  const { draft, failure } = state;
  const { key, pending, ...texts } = draft;
  switch (action.type) {
    case 'edited':
      return {
        ...state,
        // Text typed into an empty form is another inquiry.
        draft: { ...action.texts, key: hasText(action.texts) ? key : newKey },
        isMissing: false,
        failure: failure?.kind === 'too-large' ? undefined : failure,
        status: undefined,
      };
    case 'found-missing':
      return { ...state, isMissing: true };
    case 'started':
      return {
        ...state,
        draft: { ...draft, pending: isUnsure(draft) ? pending : action.at },
        isSending: true,
        failure: undefined,
        status: { kind: 'sending' },
      };
    case 'failed': {
      const { kind, mayBeDone } = action.failure;
      const isReady = kind === 'signed-out' || pending === 'signed-out';
      return {
        ...state,
        draft: { ...draft, pending: mayBeDone ? pending : isReady ? 'signed-out' : undefined },
        isSending: false,
        isLimited: kind === 'limit',
        // A dialog asks about a reused key.
        failure: kind === 'reused' ? undefined : { ...action.failure, at: action.at },
        status: undefined,
      };
    }
    case 'sent':
      return { ...begin({ ...EMPTY, key: newKey }), sent: action.inquiry };
    case 'sent-elsewhere':
      // This tab's own attempt ends with the same inquiry.
      if (state.isSending || key !== action.key || !isSame(texts, action.inquiry)) return state;
      return {
        ...state,
        draft: { ...EMPTY, key: newKey },
        failure: failure?.kind === 'signed-out' ? failure : undefined,
        status: { kind: 'elsewhere' },
      };
    case 'renewed':
      return { ...state, draft: { ...texts, key: newKey }, failure: undefined };
    case 'hour-ended':
      if (failure?.kind !== 'limit') return { ...state, isLimited: false };
      return { ...state, isLimited: false, failure: undefined, status: { kind: 'ready' } };
    case 'connected':
      if (failure?.kind !== 'offline') return state;
      return { ...state, failure: undefined, status: { kind: 'connected', failure } };
    case 'signing-in':
      return { ...state, isSending: action.isSending };
    case 'said':
      return { ...state, status: action.status };
    case 'another':
      return { ...state, sent: undefined, status: undefined };
  }
}
