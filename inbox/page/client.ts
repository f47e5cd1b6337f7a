/** Client of inbox/server.ts; every outcome is a value. */
import type { Listing, ListQuery, Unanswered } from '../listing.ts';
import type { Recorded, Session } from '../server.ts';
import type { ShownInquiry } from '../shown-inquiry.ts';

export type { Listing, Unanswered } from '../listing.ts';
export type { Session } from '../server.ts';
export type Inquiry = ShownInquiry;

export type Closed = { [Name in 'respondent' | 'reply_at' | 'reply']?: string | undefined };

/** An empty `text` lists everything. */
export type Query = Omit<ListQuery, 'from'>;

/** The response's status; 0 without one. */
export interface Failure {
  failure: number;
  message: string;
}

const STOPPED =
  'The command that serves this page does not answer. Is npm run inbox -- --web still running?';

export type Api = ReturnType<typeof createApi>;

export function createApi(secret: string) {
  const headers = { authorization: `Bearer ${secret}` };

  async function send<Result extends object>(
    path: string,
    options?: RequestInit,
  ): Promise<Result | Failure> {
    try {
      const response = await fetch(`/api/${path}`, { ...options, headers });
      const data: unknown = await response.json();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the server sends it
      if (response.ok || response.status === 409) return data as Result;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return { failure: response.status, ...(data as { message: string }) };
    } catch {
      return { failure: 0, message: STOPPED };
    }
  }

  return {
    session: async () => send<Session>('session'),
    async list(query: Query, from?: string, signal: AbortSignal | null = null) {
      const parameters = new URLSearchParams({ ...query, ...(from !== undefined && { from }) });
      return send<Listing>(`inquiries?${parameters}`, { signal });
    },
    unanswered: async () => send<Unanswered>('unanswered'),
    get: async (id: string, signal: AbortSignal | null = null) =>
      send<Inquiry>(`inquiries/${id}`, { signal }),
    countOthers: async (id: string, signal: AbortSignal) =>
      send<{ count: number; isAll: boolean }>(`inquiries/${id}/others`, { signal }),
    /**
     * Without a reply, dismisses the inquiry.
     *
     * @param keepalive - Goes on when the page is left; at most 64 KiB.
     */
    answer: async (id: string, reply: string | undefined, keepalive: boolean) =>
      send<Recorded>(`inquiries/${id}/${reply === undefined ? 'dismiss' : 'reply'}`, {
        method: 'POST',
        body: JSON.stringify({ reply }),
        keepalive,
      }),
  };
}

export const isFailure = (value: object): value is Failure => 'failure' in value;
