/** The client of the page's API (inbox/server.ts); every outcome is a value. */
import type { ListQuery } from '../listing.ts';
import type { InboxApi } from '../server.ts';

export type Session = InboxApi['/api/session'];
export type Listing = InboxApi['/api/inquiries'];
export type Inquiry = InboxApi['/api/inquiries/ID'];
export type Answer = InboxApi['/api/inquiries/ID/reply'];
export type Unanswered = InboxApi['/api/unanswered'];

/** Who closed an inquiry, and a reply if there is one. */
export type Closed = { [Name in 'respondent' | 'reply_at' | 'reply']?: string | undefined };

/** `text` is what is searched for; empty: everything is listed. */
export type Query = Omit<ListQuery, 'from'> & Partial<Pick<ListQuery, 'from'>>;

/** Why a request failed; `stopped`: the command does not answer. */
export interface Failure {
  readonly failure: 'wrong-address' | 'stopped' | 'refused';
  readonly message: string;
}

const STOPPED =
  'The command that serves this page does not answer. Is npm run inbox -- --web still running?';

export type Api = ReturnType<typeof createApi>;

/** @param secret - From the page's address. */
export function createApi(secret: string) {
  async function send<Result extends object>(
    path: string,
    { body, ...options }: { body?: string; signal?: AbortSignal | null; keepalive?: boolean } = {},
  ): Promise<Result | Failure> {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body };
    try {
      const response = await fetch(`/api/${path}`, { ...post, ...options, headers });
      const data: unknown = await response.json();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- InboxApi is the contract
      if (response.ok || response.status === 409) return data as Result;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      const { message } = data as { message: string };
      return { failure: response.status === 403 ? 'wrong-address' : 'refused', message };
    } catch {
      return { failure: 'stopped', message: STOPPED };
    }
  }

  return {
    session: async () => send<Session>('session'),
    /** @param signal - The command stops reading, too. */
    async list(query: Query, signal: AbortSignal) {
      const set = Object.entries(query).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      );
      return send<Listing>(`inquiries?${new URLSearchParams(set)}`, { signal });
    },
    unanswered: async () => send<Unanswered>('unanswered'),
    get: async (id: string, signal?: AbortSignal) =>
      send<Inquiry>(`inquiries/${id}`, { signal: signal ?? null }),
    /**
     * Without a text the inquiry is dismissed.
     *
     * @param keepalive - Whether the request goes on when the page is left; its text may then have 64 KiB.
     */
    answer: async (id: string, reply: string | undefined, keepalive: boolean) =>
      send<Answer>(`inquiries/${id}/${reply === undefined ? 'dismiss' : 'reply'}`, {
        body: JSON.stringify({ reply }),
        keepalive,
      }),
  };
}

export const isFailure = (value: object): value is Failure => 'failure' in value;
