import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  startFunction,
  type FunctionOptions,
  type LocalFunction,
} from '../../local/lambda/function.ts';
import { startSandbox } from '../../local/lambda/sandbox.ts';

const lines: string[] = [];
const read = () => lines.map((line) => JSON.parse(line) as unknown);
const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
  lines.length = 0;
});

const log = (line: string): void => void lines.push(line);
const start = async (
  module: string,
  options: Partial<FunctionOptions> = {},
): Promise<LocalFunction> => {
  const started = await startFunction({ module, environment: {}, timeout: 5_000, log, ...options });
  running.push(started);
  return started;
};
const code = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
/** Counts its invocations, tells processes apart, and does what the event says. */
const OBEDIENT = code(`
  let count = 0;
  export const handler = async ({ wait = 0, exit, hang, loop, thrown, later }) => {
    count++;
    if (exit) process.exit(3);
    if (loop) for (;;);
    if (hang) await new Promise(() => {});
    if (thrown) throw thrown === 'string' ? 'secret' : new TypeError('secret');
    if (later) setTimeout(() => process.exit(4), 500);
    await new Promise((resolve) => setTimeout(resolve, wait));
    return { count, pid: process.pid };
  };`);
const invoke = async (started: LocalFunction, event: object = {}) =>
  JSON.parse(await started.invoke(JSON.stringify(event), 'r')) as { count: number; pid: number };
const useFakeTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};
/** Whether a process is there and is no zombie. */
const exists = (pid: number): boolean =>
  /^[^Z\s]/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout);

it('a failed initialisation after a reload fails that invocation, says where, and is tried again by the next', async () => {
  const mark = join(mkdtempSync(join(tmpdir(), 'inquiries-function-')), 'mark');
  const started = await start(
    code(`
      import { existsSync, writeFileSync, rmSync } from 'node:fs';
      const mark = ${JSON.stringify(mark)};
      if (existsSync(mark)) { rmSync(mark); throw new Error('not this time'); }
      writeFileSync(mark, '');
      export const handler = async () => process.pid;`),
  );
  started.reload();
  await expect(started.invoke('{}', 'r')).rejects.toThrow('not this time');
  await expect.poll(() => lines.join('\n')).toContain('Error: not this time');
  expect(Number(await started.invoke('{}', 'r'))).toBeGreaterThan(0);
});

describe('an invocation', () => {
  it('gets the event, a context and the given environment, and nothing of the parent’s', async () => {
    vi.stubEnv('OURS', 'secret');
    const handler = `export const handler = async (event, context) =>
      [event, context.awsRequestId, context.getRemainingTimeInMillis(), process.env]`;
    const started = await start(code(handler), { environment: { A: 'b' } });
    const received = JSON.parse(await started.invoke('{"x":1}', 'r1')) as unknown[];
    const [event, requestId, remaining, environment] = received;
    expect([event, requestId]).toEqual([{ x: 1 }, 'r1']);
    expect(remaining).toBeGreaterThan(4_000);
    expect(remaining).toBeLessThanOrEqual(5_000);
    expect(environment).toMatchObject({ A: 'b' });
    expect(environment).not.toHaveProperty('OURS');
  });

  it.each(['TypeError', 'string'])(
    'rejects with only the type when the handler throws a %s, and the process continues',
    async (thrown) => {
      const started = await start(OBEDIENT);
      const { pid } = await invoke(started);
      await expect(invoke(started, { thrown })).rejects.toThrow(new RegExp(`^${thrown}$`));
      expect(await invoke(started)).toEqual({ pid, count: 3 });
      expect(lines).toEqual([]);
    },
  );

  it('times out when the handler hangs, even in an endless loop, and the next one runs in a new process', async () => {
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
    await expect(invoke(started, { exit: true })).rejects.toThrow('Runtime exited with code 3');
    const { pid, count } = await invoke(started, { later: true });
    expect(count).toBe(1);
    // Signals reach a process until Node has noticed its end.
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
    expect((await invoke(started)).count).toBe(1);
  });

  it('returns null for undefined, and takes and returns 6 MB', async () => {
    const started = await start(code('export const handler = async ({ text }) => text'));
    expect(await started.invoke('{}', 'r')).toBe('null');
    const text = 'é'.repeat(3_100_000);
    expect(JSON.parse(await started.invoke(JSON.stringify({ text }), 'r'))).toBe(text);
  });

  it('logs console lines as Lambda does, with level and request id', async () => {
    const started = await start(
      code(`export const handler = async () => {
        console.warn({ a: 1 }); console.log('%s is', 'text', 1); console.error(new RangeError('far')); }`),
    );
    await started.invoke('{}', 'r7');
    await expect.poll(() => lines.length).toBe(3);
    expect(read()).toMatchObject([
      { level: 'WARN', requestId: 'r7', message: { a: 1 } },
      { level: 'INFO', requestId: 'r7', message: 'text is 1' },
      {
        level: 'ERROR',
        requestId: 'r7',
        message: { errorType: 'RangeError', errorMessage: 'far' },
      },
    ]);
  });
});

describe('invocations at the same time', () => {
  it('run one by one in each process, warm ones first, in the order of their arrival', async () => {
    const started = await start(OBEDIENT, { concurrency: 2 });
    const first = await invoke(started);
    expect(await invoke(started)).toEqual({ pid: first.pid, count: 2 });

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => invoke(started, { wait: 5 })),
    );
    const byProcess = Map.groupBy(answers, ({ pid }) => pid);
    expect(byProcess.size).toBe(2);
    for (const group of byProcess.values()) {
      const counts = group.map(({ count }) => count);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    }
  });

  it('do not use up their time in the queue', async () => {
    const started = await start(OBEDIENT, { concurrency: 1, timeout: 1_000 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => invoke(started, { wait: 400 })),
    );
    expect(answers.map(({ count }) => count)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('wait 30 s altogether: then a queued one is dropped, and a running one goes on without its caller', async () => {
    const started = await start(OBEDIENT, { concurrency: 1, timeout: 30_000 });
    useFakeTimers();
    const first = invoke(started, { wait: 100 });
    const second = invoke(started, { wait: 500 });
    const third = invoke(started);
    vi.advanceTimersByTime(29_999);
    const { pid } = await first;
    const outcomes = Promise.allSettled([second, third]);
    vi.advanceTimersByTime(1);
    const timeout = { status: 'rejected', reason: { name: 'FunctionTimeout' } };
    expect(await outcomes).toMatchObject([timeout, timeout]);
    expect(await invoke(started)).toEqual({ pid, count: 3 });
  });

  it('after a reload run in a new process, while a running one ends on the old', async () => {
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

  it('reject when the function is closed, and no process is left', async () => {
    const started = await start(OBEDIENT, { concurrency: 1, timeout: 2 ** 31 - 1 });
    const { pid } = await invoke(started);
    const outcomes = Promise.allSettled([invoke(started, { hang: true }), invoke(started)]);
    await started.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(exists(pid)).toBe(false);
  });
});

describe('a sandbox', () => {
  const open = async () => {
    const sandbox = await startSandbox({ module: OBEDIENT, environment: {}, log });
    running.push(sandbox);
    return sandbox;
  };

  it('has 30 s to initialise', async () => {
    useFakeTimers();
    const starting = startSandbox({ module: code('for (;;);'), environment: {}, timeout: 10 });
    // Unlike expect.poll, this does not advance the time.
    while (vi.getTimerCount() === 0) await setImmediate();
    vi.advanceTimersByTime(29_999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    await expect(starting).rejects.toMatchObject({ name: 'FunctionTimeout' });
  });

  it('does nothing while it is frozen, and goes on when it is thawed', async () => {
    const sandbox = await open();
    sandbox.freeze();
    let answered = false;
    const answer = sandbox.invoke('{}').then(() => (answered = true));
    await sleep(300);
    expect(answered).toBe(false);
    sandbox.thaw();
    expect(await answer).toBe(true);
  });

  it.each(['{"loop":true}', 'frozen'])(
    'ends with its parent, even one that is killed, during %s',
    async (event) => {
      const parent = spawn(process.execPath, [
        '--input-type=module',
        '--eval',
        `import { startSandbox } from ${JSON.stringify(new URL('../../local/lambda/sandbox.ts', import.meta.url).href)};
         const sandbox = await startSandbox({ module: ${JSON.stringify(OBEDIENT)}, environment: {} });
         if (${JSON.stringify(event)} === 'frozen') sandbox.freeze();
         else void sandbox.invoke(${JSON.stringify(event)});
         setTimeout(() => console.log(sandbox.pid), 100);`,
      ]);
      const [output] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(output.toString());
      expect(exists(pid)).toBe(true);
      parent.kill('SIGKILL');
      await expect.poll(() => exists(pid), { timeout: 10_000 }).toBe(false);
    },
  );
});
