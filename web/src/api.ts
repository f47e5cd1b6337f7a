/** The service as the page sees it: every way it can end is a value, and a refused token is renewed once. */
import { createClient, UnexpectedAnswerError } from './api/client.ts';
import type { Client, GatewayReply, Inquiry, ListInquiriesQuery } from './api/client.ts';
import { SignedOut } from './user.ts';
import type { Session } from './user.ts';

/** Why something did not work, as far as it can be known. */
export interface Failure {
  readonly kind:
    | 'signed-out'
    | 'too-large'
    | 'busy' // too many requests
    | 'refused' // `message` says why
    | 'offline' // no network on this side
    | 'unreachable' // no answer, or none in time
    | 'server'; // the service failed
  /** Whether the request may have been done all the same: its answer was lost, or the service failed half-way. */
  readonly mayBeDone: boolean;
  readonly message?: string;
}

export interface Page {
  /** Newest first. */
  readonly inquiries: readonly Inquiry[];
  /** Lists the older ones, when there are any. */
  readonly next: ListInquiriesQuery | undefined;
}

export interface Api {
  list(query?: ListInquiriesQuery): Promise<Page | Failure>;
  create(inquiry: { subject: string; body: string }): Promise<Inquiry | Failure>;
}

/** Milliseconds; the gateway gives up after 30 seconds. */
const TIMEOUT = 35_000;
const PAGE_SIZE = 20;

export function isFailure(value: object): value is Failure {
  return 'kind' in value && 'mayBeDone' in value;
}

export function createApi(baseUrl: string, session: Session, isOnline: () => boolean): Api {
  /** A 401 means that nothing was done, so the request may be sent again with a fresh token. */
  const call = async <Result extends { status: number }>(
    request: (client: Client, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result | Failure> => {
    let used: string | undefined;
    let mayBeDone = false;
    const getToken = async (): Promise<string> => {
      mayBeDone = false;
      used = await session.token(used);
      mayBeDone = true;
      return used;
    };
    const client = createClient({ baseUrl, getToken });
    try {
      const result = await request(client, AbortSignal.timeout(TIMEOUT));
      return result.status === 401 ? await request(client, AbortSignal.timeout(TIMEOUT)) : result;
    } catch (error) {
      if (error instanceof UnexpectedAnswerError) return toFailure(error.status);
      if (error instanceof SignedOut) return { kind: 'signed-out', mayBeDone: false };
      return { kind: isOnline() ? 'unreachable' : 'offline', mayBeDone };
    }
  };

  return {
    async list(query = { limit: PAGE_SIZE }) {
      const result = await call(async (client, signal) => client.listInquiries(query, { signal }));
      if (isFailure(result)) return result;
      if (result.status !== 200) return toFailure(result.status, result.body);
      return { inquiries: result.body.inquiries, next: result.next };
    },
    async create(inquiry) {
      const result = await call(async (client, signal) => client.createInquiry(inquiry, { signal }));
      if (isFailure(result)) return result;
      return result.status === 201 ? result.body.inquiry : toFailure(result.status, result.body);
    },
  };
}

function toFailure(status: number, body?: GatewayReply): Failure {
  if (status === 401) return { kind: 'signed-out', mayBeDone: false };
  if (status === 413) return { kind: 'too-large', mayBeDone: false };
  if (status === 429) return { kind: 'busy', mayBeDone: false };
  // A success that is not of the contract, too, comes from somewhere on the way.
  if (status >= 500 || status < 400) return { kind: 'server', mayBeDone: true };
  return { kind: 'refused', mayBeDone: false, ...(body && { message: body.message }) };
}
