import { onTestFinished, vi } from 'vitest';

/** Stops the date until the test ends. Local time is UTC. */
export function stopClock(now: number): void {
  vi.stubEnv('TZ', 'UTC');
  vi.useFakeTimers({ now, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Replaces AbortSignal.timeout until the test ends. @returns A function that lets milliseconds pass. */
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

/** Replaces `setTimeout` of node:timers/promises. Only performance.now moves. */
export async function skipTime(milliseconds = 0): Promise<void> {
  const time = performance.now() + milliseconds;
  vi.spyOn(performance, 'now').mockReturnValue(time);
}
