import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import {
  startFunction,
  type FunctionOptions,
  type LocalFunction,
} from '../../local/lambda/function.ts';

const lines: string[] = [];
afterEach(() => void lines.splice(0));

const start = async (module: string, options: Partial<FunctionOptions> = {}) => {
  const log = (line: string): void => void lines.push(line);
  const started = await startFunction({ module, environment: {}, timeout: 5_000, log, ...options });
  onTestFinished(() => started.close());
  return started;
};
const code = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
/** Counts its invocations, tells processes apart, and does what the event says. */
const OBEDIENT = code(`
  let count = 0;
  export const handler = async ({ wait = 0, exit, hang, loop, thrown }) => {
    count++;
    if (exit) setTimeout(() => process.exit(3), exit);
    if (loop) for (;;);
    if (hang) await new Promise(() => {});
    if (thrown) throw thrown === 'string' ? 'secret' : new TypeError('secret');
    await new Promise((resolve) => setTimeout(resolve, wait));
    return { count, pid: process.pid };
  };`);
const invoke = async (started: LocalFunction, event: object = {}) =>
  JSON.parse(await started.invoke(JSON.stringify(event), 'r')) as { count: number; pid: number };
/** Whether a process is there and is no zombie. */
const exists = (pid: number): boolean =>
  /^[^Z\s]/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout);

it('fails an invocation whose initialisation fails, says where, and tries again for the next', async () => {
  const started = await start(code(`throw new Error('not this time')`), { lazy: true });
  for (const count of [1, 2]) {
    await expect(started.invoke('{}', 'r')).rejects.toThrow('not this time');
    const isReport = (line: string) => line.startsWith('Error: not this time');
    await expect.poll(() => lines.filter(isReport).length).toBe(count);
  }
});

it('passes the event, a context and the given environment, and nothing of the parent’s', async () => {
  vi.stubEnv('OURS', 'secret');
  const handler = `export const handler = async (event, context) =>
    [event, context.awsRequestId, context.getRemainingTimeInMillis(), process.env]`;
  const started = await start(code(handler), { environment: { A: 'b' } });
  const received = JSON.parse(await started.invoke('{"x":1}', 'r1')) as unknown[];
  expect(received).toMatchObject([{ x: 1 }, 'r1', expect.any(Number), { A: 'b' }]);
  expect(received[2]).toBeGreaterThan(4_000);
  expect(received[3]).not.toHaveProperty('OURS');
});

it('rejects with only the type of what the handler throws, and the process continues', async () => {
  const started = await start(OBEDIENT);
  const { pid } = await invoke(started);
  for (const thrown of ['TypeError', 'string']) {
    await expect(invoke(started, { thrown })).rejects.toThrow(new RegExp(`^${thrown}$`));
  }
  expect(await invoke(started)).toEqual({ pid, count: 4 });
  expect(lines).toEqual([]);
});

it('ends a handler that hangs, even in an endless loop, and runs the next one in a new process', async () => {
  const started = await start(OBEDIENT, { timeout: 300, concurrency: 1 });
  for (const event of [{ hang: true }, { loop: true }]) {
    const { pid } = await invoke(started);
    await expect(invoke(started, event)).rejects.toMatchObject({ name: 'FunctionTimeout' });
    expect((await invoke(started)).pid).not.toBe(pid);
    expect(exists(pid)).toBe(false);
  }
});

it('runs in a new process when the one before has ended, during an invocation or after it', async () => {
  const started = await start(OBEDIENT);
  await expect(invoke(started, { exit: 1, hang: true })).rejects.toThrow(
    'Runtime exited with code 3',
  );
  const { pid, count } = await invoke(started, { exit: 100 });
  expect(count).toBe(1);
  // Signals reach a process until Node has noticed its end.
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
  expect((await invoke(started)).count).toBe(1);
});

it('takes and returns 6 MB, null for undefined, and logs console lines as Lambda does', async () => {
  const started = await start(
    code(`export const handler = async ({ text }) => {
      console.warn({ a: 1 }); console.log('%s is', 'text', 1); console.error(new RangeError('far'));
      return text; }`),
  );
  const text = 'é'.repeat(3_100_000);
  expect(JSON.parse(await started.invoke(JSON.stringify({ text }), 'r7'))).toBe(text);
  await expect.poll(() => lines.length).toBe(3);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 'WARN', requestId: 'r7', message: { a: 1 } },
    { level: 'INFO', requestId: 'r7', message: 'text is 1' },
    { level: 'ERROR', message: expect.stringMatching(/^RangeError: far\n +at /) as string },
  ]);
  expect(await started.invoke('{}', 'r')).toBe('null');
});

it('runs invocations one by one in each process, warm ones first, in the order of their arrival', async () => {
  const started = await start(OBEDIENT, { concurrency: 2 });
  const first = await invoke(started);
  expect(await invoke(started)).toEqual({ pid: first.pid, count: 2 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => invoke(started, { wait: 5 })));
  const byProcess = Map.groupBy(answers, ({ pid }) => pid);
  expect(byProcess.size).toBe(2);
  for (const group of byProcess.values()) {
    const counts = group.map(({ count }) => count);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
});

it('does not count time in the queue, which together with the run is 30 s at most for the caller', async () => {
  const started = await start(OBEDIENT, { concurrency: 1, timeout: 30_000 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = invoke(started, { wait: 100 });
  const second = invoke(started, { wait: 500 });
  const third = invoke(started);
  vi.advanceTimersByTime(29_999);
  const { pid } = await first;
  const outcomes = Promise.allSettled([second, third]);
  vi.advanceTimersByTime(1);
  const timeout = { status: 'rejected', reason: { name: 'FunctionTimeout' } };
  expect(await outcomes).toMatchObject([timeout, timeout]);
  // The queued one was dropped, the running one went on without its caller.
  expect(await invoke(started)).toEqual({ pid, count: 3 });
});

it('runs in a new process after a reload, while a running one ends on the old', async () => {
  const started = await start(OBEDIENT);
  const { pid } = await invoke(started);
  const slow = invoke(started, { wait: 500 });
  started.reload();
  const after = await invoke(started);
  expect(after.count).toBe(1);
  expect(await slow).toEqual({ pid, count: 2 });
  await expect.poll(() => exists(pid)).toBe(false);
  expect(await invoke(started)).toEqual({ pid: after.pid, count: 2 });
});

it('rejects what runs and waits when it is closed, and leaves no process', async () => {
  const started = await start(OBEDIENT, { concurrency: 1 });
  const { pid } = await invoke(started);
  const outcomes = Promise.allSettled([invoke(started, { hang: true }), invoke(started)]);
  await started.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(exists(pid)).toBe(false);
});

it('ends a sandbox with its parent, even one that is killed, during an endless loop', async () => {
  const file = new URL('../../local/lambda/sandbox.ts', import.meta.url).href;
  const source = `import { startSandbox } from ${JSON.stringify(file)};
    const sandbox = await startSandbox({ module: ${JSON.stringify(OBEDIENT)}, environment: {} });
    void sandbox.invoke('{"loop":true}');
    setTimeout(() => console.log(sandbox.pid), 100);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source]);
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  expect(exists(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => exists(pid), { timeout: 10_000 }).toBe(false);
});
