/** What the browser may refuse, as it does in some frames and where cookies are blocked. */

/** Runs an action on the browser's storage, which throws when it is full or forbidden. Returns whether it worked. */
export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** Opens a channel to the other tabs; where the browser refuses it, one that nobody else has. */
export function openChannel(name: string) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return new MessageChannel().port1;
  }
}

/** What a message of a channel says. */
export const dataOf = (event: Event): unknown => ('data' in event ? event.data : undefined);
