/** Browsers refuse storage in some frames and where cookies are blocked. */

export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** To the other tabs; to nobody where it is refused. */
export function openChannel(name: string) {
  try {
    return new BroadcastChannel(name);
  } catch {
    return new MessageChannel().port1;
  }
}

export const dataOf = (event: Event): unknown => ('data' in event ? event.data : undefined);
