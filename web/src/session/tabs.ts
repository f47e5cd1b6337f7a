/** Tabs share the ID token, never the refresh token. docs/adr/0050 */
import type { User } from '../api.ts';
import { isText, toRecord } from '../narrow.ts';
import { dataOf, openChannel } from '../storage.ts';

export interface Tokens {
  idToken: string;
  /** By the local clock, which may be wrong. */
  expires: number;
  user: User;
  /** The last sign-out before the sign-in; a later one ends the session. */
  lastSignOut: string | null;
}

export interface Wanted {
  sub?: string;
  /** A token that has expired or was rejected. */
  refused?: string;
}

type Message =
  | 'signed-out'
  | 'wait'
  | { wanted: Wanted }
  | { tokens: Tokens }
  /** The `sub` whose drafts are deleted in all tabs. */
  | { deleted: string };

interface TabsParts {
  name: string;
  /** @param wait - Called when a new token must be requested first. */
  give: (wanted: Wanted, wait: () => void) => Promise<Tokens | undefined>;
  onSignOut: () => void;
  onDelete: (sub: string) => void;
}

/** Milliseconds. Suspended tabs do not answer. */
const ANSWER_TIMEOUT = 1_000;
/** Milliseconds after a tab has said that it requests a token. */
const REFRESH_TIMEOUT = 20_000;

export function createTabs({ name, give, onSignOut, onDelete }: TabsParts) {
  const channel = openChannel(name);
  const post = (message: Message): void => channel.postMessage(message);
  let release: (() => void) | undefined;

  channel.addEventListener('message', (event: Event) => {
    const message = parseMessage(event);
    if (message === 'signed-out') onSignOut();
    if (typeof message !== 'object') return;
    if ('deleted' in message) onDelete(message.deleted);
    if (!('wanted' in message)) return;
    void give(message.wanted, () => post('wait')).then(
      (tokens) => tokens !== undefined && post({ tokens }),
      // The other tab times out.
      () => undefined,
    );
  });

  return {
    /** Another tab's session, if one answers in time. */
    async ask(wanted: Wanted): Promise<Tokens | undefined> {
      const { promise, resolve } = Promise.withResolvers<Tokens | undefined>();
      const waitFor = (time: number) => setTimeout(() => resolve(undefined), time);
      let timer = waitFor(ANSWER_TIMEOUT);
      // Each tab with a session holds a lock.
      const answerIfAlone = async (): Promise<void> => {
        const { held = [] } = await navigator.locks.query();
        const tabs = held.filter((lock) => lock.name === name).length;
        if (tabs <= (release === undefined ? 0 : 1)) resolve(undefined);
      };
      // Not awaited: a busy browser answers late.
      void answerIfAlone().catch(() => undefined);
      const listen = (event: Event): void => {
        const message = parseMessage(event);
        if (message === 'wait') {
          clearTimeout(timer);
          timer = waitFor(REFRESH_TIMEOUT);
        } else if (typeof message === 'object' && 'tokens' in message) {
          const { user, idToken } = message.tokens;
          // Not the answer to another tab.
          if (user.sub === (wanted.sub ?? user.sub) && idToken !== wanted.refused) {
            resolve(message.tokens);
          }
        }
      };
      channel.addEventListener('message', listen);
      post({ wanted });
      return promise.finally(() => {
        clearTimeout(timer);
        channel.removeEventListener('message', listen);
      });
    },
    /** Lets other tabs ask this one. */
    open(): void {
      if (release !== undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      release = resolve;
      const hold = async () =>
        navigator.locks.request(name, { mode: 'shared' }, async () => promise);
      void hold().catch(() => undefined);
    },
    close(): void {
      release?.();
      release = undefined;
    },
    signOut: () => post('signed-out'),
    delete: (sub: string) => post({ deleted: sub }),
  };
}

/** Undefined when malformed: tabs may show other versions of the page. */
export function parseMessage(event: Event): Message | undefined {
  const data = dataOf(event);
  if (data === 'signed-out' || data === 'wait') return data;
  const { wanted, tokens, deleted } = toRecord(data);
  if (isText(deleted)) return { deleted };
  if (isTokens(tokens)) return { tokens };
  const { sub, refused } = toRecord(wanted);
  const isWanted = [sub, refused].every((value) => value === undefined || isText(value));
  return isWanted && typeof wanted === 'object' && wanted !== null ? { wanted } : undefined;
}

export function isTokens(value: unknown): value is Tokens {
  const { idToken, expires, user, lastSignOut } = toRecord(value);
  const { sub, email } = toRecord(user);
  return (
    [idToken, sub, email].every(isText) &&
    typeof expires === 'number' &&
    (lastSignOut === null || isText(lastSignOut))
  );
}
