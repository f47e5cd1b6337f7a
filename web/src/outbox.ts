/**
 * Sends an inquiry so that it is stored once: when the response to a request is lost, the list is checked for the
 * inquiry before it is sent again. docs/adr/0052
 */
import { isFailure } from './api.ts';
import type { Api, Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import type { Draft } from './drafts.ts';

export type Pending = NonNullable<Draft['pending']>;

/** The result of sending a draft. */
export type Outcome =
  | { readonly kind: 'sent'; readonly inquiry: Inquiry }
  /** It is certain that nothing was stored. */
  | { readonly kind: 'not-sent'; readonly failure: Failure }
  /** The response was lost, and the list could not be loaded. */
  | { readonly kind: 'unknown'; readonly failure: Failure };

/** Milliseconds by which the clocks of browser and service may differ. */
const CLOCK_SKEW = 300_000;

/** Sends a draft for the first time. */
export async function send(api: Api, draft: Draft, pending: Pending): Promise<Outcome> {
  const { subject, body } = draft;
  const result = await api.create({ subject, body });
  if (!isFailure(result)) return { kind: 'sent', inquiry: result };
  if (!result.mayBeDone) return { kind: 'not-sent', failure: result };
  const found = await find(api, draft, pending);
  if (found === undefined) return { kind: 'not-sent', failure: result };
  return isFailure(found) ? { kind: 'unknown', failure: result } : { kind: 'sent', inquiry: found };
}

/** Sends a draft whose response was lost earlier, unless it is in the list. */
export async function resend(api: Api, draft: Draft, pending: Pending): Promise<Outcome> {
  const found = await find(api, draft, pending);
  if (found === undefined) return send(api, draft, pending);
  return isFailure(found) ? { kind: 'unknown', failure: found } : { kind: 'sent', inquiry: found };
}

/** Finds the inquiry with the draft's text that was stored after sending started; undefined when there is none. */
export async function find(
  api: Api,
  { subject, body }: Draft,
  { newest, at }: Pending,
): Promise<Inquiry | Failure | undefined> {
  const page = await api.list();
  if (isFailure(page)) return page;
  const isNew = ({ id, created_at }: Inquiry): boolean =>
    newest === null ? Date.parse(created_at) > at - CLOCK_SKEW : id > newest;
  return page.inquiries.find(
    (inquiry) =>
      isNew(inquiry) && inquiry.subject === subject.toWellFormed() && inquiry.body === body.toWellFormed(),
  );
}
