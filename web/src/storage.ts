/** What the browser may refuse, as it does in some frames and where cookies are blocked. */

/** Whether an action on the browser's storage worked. */
export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** A channel to the other tabs; where it is refused, to nobody. */
export function openChannel(name: string) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return new MessageChannel().port1;
  }
}

export const dataOf = (event: Event): unknown => ('data' in event ? event.data : undefined);
