import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** The reason of the test or its nearest suite; without one, the test was not asked for. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  let part: TestCase | TestSuite | TestModule = test;
  while (part.type !== 'module') {
    const { skipped } = part.meta();
    if (skipped !== undefined) return skipped;
    part = part.parent;
  }
  return undefined;
}

export const skippedReporter: Reporter = {
  onTestRunEnd(modules) {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const byReason = Map.groupBy(skipped, reasonOf);
    byReason.delete(undefined);
    if (byReason.size === 0) return;
    const lines = Array.from(byReason, ([reason, tests]) => `  ${tests.length} tests: ${reason}`);
    process.stdout.write(`Skipped\n${lines.join('\n')}\n\n`);
  },
};
