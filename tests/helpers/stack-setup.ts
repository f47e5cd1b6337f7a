/** Starts the browser tests' shared stack as a process. Each test has its own users. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { whyNoFirefox } from './firefox.ts';
import { whyNoBrowser } from './installed-chromium.ts';
import type { SharedStack } from './shared-stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent without a browser. */
    stack: SharedStack;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (whyNoBrowser !== undefined && whyNoFirefox !== undefined) return undefined;
  const child = fork(join(import.meta.dirname, 'shared-stack.ts'));
  const ended = once(child, 'exit');
  const failed = ended.then(() =>
    Promise.reject(new Error('The stack of the browser tests did not start.')),
  );
  const [stack] = (await Promise.race([once(child, 'message'), failed])) as [SharedStack];
  // From here on its end is wanted.
  failed.catch(() => undefined);
  project.provide('stack', stack);
  return async () => {
    child.disconnect();
    await ended;
  };
}
