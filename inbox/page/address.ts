/** The open inquiry, and at first the secret, in the page's address. */
import { INQUIRY_ID } from '../../src/limits.ts';

const SECRET = 'inbox.secret';

/** Milliseconds for which a new tab waits for the secret of another. */
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
 * Moves the secret to this tab's storage: in the address it would be seen and kept. A tab that was opened from a row asks the
 * other tabs for it.
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
