/** The page's address: the open inquiry, and first the secret. */
import { INQUIRY_ID } from '../../src/limits.ts';

const SECRET = 'inbox.secret';

/** Milliseconds that a new tab waits for another's secret. */
const ANSWER_TIME = 500;

const fragment = (): string => location.hash.slice(1);

export const openedId = (): string | undefined =>
  INQUIRY_ID.test(fragment()) ? fragment() : undefined;

export const openInquiry = (id: string): void => void (location.hash = id);

export function showList(): void {
  if (openedId() !== undefined) location.hash = '';
}

export const hasSecret = (): boolean => fragment() !== '' && openedId() === undefined;

/** For other tabs, too. */
export const dropSecret = (): void => sessionStorage.removeItem(SECRET);

/**
 * Moves the secret from the address, where it would be seen, to the tab's storage. A tab opened from a row asks others.
 */
export async function takeSecret(): Promise<string | null> {
  if (hasSecret()) {
    sessionStorage.setItem(SECRET, fragment());
    history.replaceState(null, '', location.pathname);
  }
  const tabs = new BroadcastChannel(SECRET);
  const { promise, resolve } = Promise.withResolvers<void>();
  tabs.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const secret = sessionStorage.getItem(SECRET);
    if (data === '' && secret !== null) tabs.postMessage(secret);
    if (data === '' || secret !== null) return;
    sessionStorage.setItem(SECRET, data);
    resolve();
  });
  if (sessionStorage.getItem(SECRET) === null) {
    tabs.postMessage('');
    setTimeout(resolve, ANSWER_TIME);
    await promise;
  }
  return sessionStorage.getItem(SECRET);
}
