/**
 * Sending, so that from the user's side an inquiry arrives once: when the answer to a request is lost, the list
 * tells whether it was stored, before anything is sent again. docs/adr/0052
 */
import { isFailure } from './api.ts';
import type { Api, Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
import type { Draft } from './drafts.ts';

export type Pending = NonNullable<Draft['pending']>;

/** What has become of a draft. */
export type Outcome =
  | { readonly kind: 'sent'; readonly inquiry: Inquiry }
  /** It is certain that nothing was stored. */
  | { readonly kind: 'not-sent'; readonly failure: Failure }
  /** The answer was lost, and the list could not be read. */
  | { readonly kind: 'unknown'; readonly failure: Failure };

/** Milliseconds by which clocks may differ where no earlier inquiry tells old from new. */
const CLOCKS = 300_000;

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

/** Sends a draft whose earlier answer was lost, unless the list has it. */
export async function resend(api: Api, draft: Draft, pending: Pending): Promise<Outcome> {
  const found = await find(api, draft, pending);
  if (found === undefined) return send(api, draft, pending);
  return isFailure(found) ? { kind: 'unknown', failure: found } : { kind: 'sent', inquiry: found };
}

/** The inquiry with the draft's text that was stored after send was pressed; undefined when there is none. */
export async function find(
  api: Api,
  { subject, body }: Draft,
  { newest, at }: Pending,
): Promise<Inquiry | Failure | undefined> {
  const page = await api.list();
  if (isFailure(page)) return page;
  const isNew = ({ id, created_at }: Inquiry): boolean =>
    newest === null ? Date.parse(created_at) > at - CLOCKS : id > newest;
  return page.inquiries.find(
    (inquiry) =>
      isNew(inquiry) && inquiry.subject === subject.toWellFormed() && inquiry.body === body.toWellFormed(),
  );
}
