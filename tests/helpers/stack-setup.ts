/** Starts the local stack that all browser tests share, in a process of its own. Each test has users of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { whyNoBrowser } from './installed-chromium.ts';
import type { SharedStack } from './shared-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent where there is no browser, and no test runs. */
    stack: SharedStack;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (whyNoBrowser !== undefined) return undefined;
  const child = fork(join(import.meta.dirname, 'shared-stack.ts'));
  const ended = once(child, 'exit');
  const failed = ended.then(() =>
    Promise.reject(new Error('The stack of the browser tests did not start.')),
  );
  const [stack] = (await Promise.race([once(child, 'message'), failed])) as [SharedStack];
  // From here on its end is what the tests want.
  failed.catch(() => undefined);
  project.provide('stack', stack);
  return async () => {
    child.disconnect();
    await ended;
  };
}
