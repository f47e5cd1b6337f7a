import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { ROOT } from '../../lib/paths.ts';

interface Page {
  screenshot: (options: { path: string; fullPage: boolean }) => Promise<unknown>;
}

/** When the test ends, takes a picture if it has failed, closes, and expects no complaints. */
export const endWithTest = (
  page: Page,
  close: () => Promise<unknown>,
  complaints: readonly unknown[],
): void =>
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') {
      const path = join(ROOT, 'test-results', `${task.id}-${Date.now()}.png`);
      await page.screenshot({ path, fullPage: true }).catch(() => undefined);
      process.stdout.write(`screenshot of the failure: ${path}\n`);
    }
    await close();
    expect(complaints).toEqual([]);
  });
