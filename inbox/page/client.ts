/** The client of the page's API (inbox/server.ts); every outcome is a value. */
import type { InboxApi } from '../server.ts';

export type Session = InboxApi['/api/session'];
export type Listing = InboxApi['/api/inquiries'];
export type Summary = Listing['inquiries'][number];
export type Stored = InboxApi['/api/inquiries/ID'];
export type Answer = InboxApi['/api/inquiries/ID/reply'];

export interface Query {
  readonly show: 'unanswered' | 'answered' | 'all';
  readonly email?: string | undefined;
  readonly before?: string | undefined;
}

/** Why a request failed; `stopped`: the command does not answer. */
export interface Failure {
  readonly failure: 'wrong-address' | 'stopped' | 'refused';
  readonly message: string;
}

const STOPPED = 'The command that serves this page does not answer. Is npm run inbox -- --web still running?';

export type Api = ReturnType<typeof createApi>;

/** @param secret - From the page's address. */
export function createApi(secret: string) {
  async function send<Result extends object>(
    path: string,
    { body, signal = null }: { body?: object; signal?: AbortSignal | undefined | null } = {},
  ): Promise<Result | Failure> {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    try {
      const response = await fetch(`/api/${path}`, { ...post, headers, signal });
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
      const set = Object.entries(query).filter(([, value]) => value !== undefined);
      return send<Listing>(`inquiries?${new URLSearchParams(set)}`, { signal });
    },
    get: async (id: string, signal?: AbortSignal) => send<Stored>(`inquiries/${id}`, { signal }),
    /** Without a text the inquiry is dismissed. */
    answer: async (id: string, reply?: string) =>
      send<Answer>(`inquiries/${id}/${reply === undefined ? 'dismiss' : 'reply'}`, { body: { reply } }),
  };
}

export const isFailure = (value: object): value is Failure => 'failure' in value;
