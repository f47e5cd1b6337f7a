/** Browsers refuse storage in some frames and where cookies are blocked. */

export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** A channel to the other tabs or, where the browser refuses it, to nobody. */
export function openChannel(name: string) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return new MessageChannel().port1;
  }
}

export const dataOf = (event: Event): unknown => ('data' in event ? event.data : undefined);
