/** Clocks that a test moves, in the place of real time. */
import { vi } from 'vitest';

/** Takes the place of AbortSignal.timeout until the test ends. @returns Lets milliseconds pass. */
export function stopTimeouts() {
  let now = 0;
  const pending: { at: number; controller: AbortController }[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const controller = new AbortController();
    pending.push({ at: now + milliseconds, controller });
    return controller.signal;
  });
  return {
    now: () => now,
    pass(milliseconds: number): void {
      now += milliseconds;
      for (const { at, controller } of pending) {
        if (at <= now) controller.abort(new DOMException('Time is up.', 'TimeoutError'));
      }
    },
  };
}

/** In the place of `setTimeout` of node:timers/promises: no time passes, but for the clock of performance.now. */
export async function skipTime(milliseconds = 0): Promise<void> {
  const time = performance.now() + milliseconds;
  vi.spyOn(performance, 'now').mockReturnValue(time);
}
