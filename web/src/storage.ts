/** Runs an action on the browser's storage, which throws when it is full or forbidden. Returns whether it worked. */
export function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
