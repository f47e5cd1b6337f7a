import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { isAlive } from '../../lib/running-stack.ts';
import { startFunction, type FunctionOptions } from '../../local/lambda/function.ts';
import { createFolder } from './data-folder.ts';

const code = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
/** This function does what the event says. */
const OBEDIENT = code(`
  const { existsSync } = process.getBuiltinModule('node:fs');
  let count = 0;
  export const handler = async ({ until, exit, hang, loop, thrown }) => {
    count++;
    if (exit) process.exit(3);
    if (loop || hang) console.log('begun');
    if (loop) for (;;);
    if (hang) await new Promise(() => {});
    if (thrown) throw thrown === 'string' ? 'secret' : new TypeError('secret');
    while (until && !existsSync(until)) await new Promise((resolve) => setTimeout(resolve, 5));
    return { count, pid: process.pid };
  };`);

/** Whether this process has asked for the exit code of a child, and so knows of its end. */
function isReaped(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

/** Milliseconds. Only what hangs takes so long. */
const HANG = 600_000;

async function start(module: string, options: Partial<FunctionOptions> = {}) {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const started = await startFunction({ module, environment: {}, timeout: HANG, log, ...options });
  onTestFinished(() => started.close());
  const invoke = async (event: object = {}) =>
    JSON.parse(await started.invoke(JSON.stringify(event), 'r')) as { count: number; pid: number };
  return { ...started, lines, run: invoke };
}

function createGate() {
  const file = join(createFolder(), 'open');
  return { file, open: () => writeFileSync(file, '') };
}

it('fails an invocation whose initialisation fails, says where, and tries again for the next', async () => {
  const { run, lines } = await start(code(`throw new Error('not this time')`), { lazy: true });
  for (const count of [1, 2]) {
    await expect(run()).rejects.toThrow('not this time');
    const isReport = (line: string) => line.startsWith('Error: not this time');
    await expect.poll(() => lines.filter(isReport).length).toBe(count);
  }
});

it('passes 6 MB, a context and the given environment, returns 6 MB, and logs as Lambda does', async () => {
  vi.stubEnv('OURS', 'secret');
  const { invoke, lines } = await start(
    code(`export const handler = async ({ text }, context) => {
      console.warn({ a: 1 }); console.log('%s is', 'text', 1); console.error(new RangeError('far'));
      return text && [text, context.awsRequestId, context.getRemainingTimeInMillis(), process.env]; }`),
    { environment: { A: 'b' } },
  );
  const text = 'é'.repeat(3_100_000);
  const received = JSON.parse(await invoke(JSON.stringify({ text }), 'r7')) as unknown[];
  expect(received).toMatchObject([text, 'r7', expect.any(Number), { A: 'b' }]);
  expect(received[3]).not.toHaveProperty('OURS');
  expect(received[2]).toBeGreaterThan(HANG / 2);
  await expect.poll(() => lines.length).toBe(3);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'WARN', requestId: 'r7', message: { a: 1 } },
    { level: 'INFO', requestId: 'r7', message: 'text is 1' },
    { level: 'ERROR', message: expect.stringMatching(/^RangeError: far\n +at /) as string },
  ]);
  expect(await invoke('{}', 'r')).toBe('null');
});

it.each([
  [{ thrown: 'TypeError' }, /^TypeError$/, true],
  [{ thrown: 'string' }, /^string$/, true],
  [{ hang: true }, 'Task timed out after 1 seconds', false],
  [{ loop: true }, 'Task timed out after 1 seconds', false],
  [{ exit: true }, 'Runtime exited with code 3', false],
])('rejects %j as %s; the process goes on: %s', async (event, message, goesOn) => {
  const { run, lines } = await start(OBEDIENT, { timeout: 1_000, concurrency: 1 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { pid } = await run();
  const outcome = run(event).catch((error: Error) => error.message);
  const isEndless = 'hang' in event || 'loop' in event;
  if (isEndless) {
    while (lines.length === 0) await turn();
    vi.advanceTimersByTime(1_000);
  }
  expect(await outcome).toMatch(message);
  expect((await run()).pid === pid).toBe(goesOn);
  expect([isAlive(pid), lines.length]).toEqual([goesOn, isEndless ? 1 : 0]);
});

it('runs invocations one by one in each process, warm ones first, in their order', async () => {
  const { run } = await start(OBEDIENT, { concurrency: 2 });
  const { pid } = await run();
  expect(await run()).toEqual({ pid, count: 2 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => run()));
  const byProcess = Map.groupBy(answers, (answer) => answer.pid);
  expect(byProcess.size).toBe(2);
  for (const group of byProcess.values()) {
    const counts = group.map(({ count }) => count);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
  for (const one of byProcess.keys()) process.kill(one, 'SIGKILL');
  await expect.poll(() => [...byProcess.keys()].every(isReaped)).toBe(true);
  expect((await run()).count).toBe(1);
});

it('does not count the time in the queue; queue and run take the caller 30 s at most', async () => {
  const { run } = await start(OBEDIENT, { concurrency: 1, timeout: 30_000 });
  const [first, second] = [createGate(), createGate()];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = run({ until: first.file });
  const outcomes = Promise.allSettled([run({ until: second.file }), run()]);
  vi.advanceTimersByTime(29_999);
  first.open();
  const { pid } = await ended;
  vi.advanceTimersByTime(1);
  const timeout = { status: 'rejected', reason: { name: 'FunctionTimeout' } };
  expect(await outcomes).toMatchObject([timeout, timeout]);
  second.open();
  // The queued invocation was dropped, the running one went on.
  expect(await run()).toEqual({ pid, count: 3 });
});

it('runs in a new process after a reload, while a running one ends on the old', async () => {
  const { run, reload } = await start(OBEDIENT);
  const { pid } = await run();
  const gate = createGate();
  const slow = run({ until: gate.file });
  reload();
  const after = await run();
  expect(after.count).toBe(1);
  gate.open();
  expect(await slow).toEqual({ pid, count: 2 });
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(await run()).toEqual({ pid: after.pid, count: 2 });
});

it('rejects what runs and waits when it is closed, and leaves no process', async () => {
  const { run, close } = await start(OBEDIENT, { concurrency: 1 });
  const { pid } = await run();
  const outcomes = Promise.allSettled([run({ hang: true }), run()]);
  await close();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(isAlive(pid)).toBe(false);
});
