/**
 * `npm run deploy` with a real Terraform on an emulator (tests/infra/stages.apply.test.ts), with state and lock in a
 * bucket, interrupted and killed. A moment is a request to the emulator, whatever the machine's speed.
 */
import { existsSync, globSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { describe, expect, it, vi, type TestContext } from 'vitest';
import { createStages, needsEmulator, OWN } from './emulator-stages.ts';
import type { Moment } from './emulator.ts';

type Signal = 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM';
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGKILL: null, SIGTERM: 143 };

interface Interruption {
  request: RegExp;
  when: Moment;
  /** Sent twice, to the whole group, as Ctrl-C at a terminal. */
  signal: Signal;
}

async function createStage({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, settings = {}) {
  let next: Interruption | undefined;
  let interrupt: ((found: Interruption) => Promise<void>) | undefined;
  const { name, folder, bucket, client, s3, start, change, remove } = await createStages(
    'stop',
    { develop: settings },
    async (request, when) => {
      if (next?.when !== when || !next.request.test(request)) return;
      const found = next;
      next = undefined;
      await interrupt?.(found);
    },
  );
  onTestFinished(remove);
  const listProcesses = (): string[] =>
    globSync('/proc/[0-9]*/cwd').filter((link) => {
      try {
        return readlinkSync(link).startsWith(folder);
      } catch {
        return false; // it has ended, or is another user's
      }
    });

  /** Waits for the end of all processes. A killed deployment leaves its temporary files. */
  async function deploy(interruption?: Interruption) {
    const { child, ended } = start('deploy', 'develop --yes');
    next = interruption;
    interrupt = async ({ signal }) => {
      for (let time = 0; time < 2 && (child.exitCode ?? child.signalCode) === null; time += 1) {
        process.kill(-Number(child.pid), signal);
        await sleep(300);
      }
    };
    const { code, output } = await ended;
    await vi.waitFor(() => expect(listProcesses()).toEqual([]), {
      timeout: 300_000,
      interval: 500,
    });
    const temporary = readdirSync(join(folder, 'tmp')).map((each) => join(folder, 'tmp', each));
    if (code === null) for (const path of temporary) rmSync(path, { recursive: true });
    const { Contents = [] } = await s3.listObjectsV2({ Bucket: bucket });
    const left = [
      ...Contents.map(({ Key = '' }) => Key).filter((key) => key.endsWith('.tflock')),
      ...[join(folder, 'infra/terraform/errored.tfstate'), ...temporary].filter(existsSync),
    ];
    const moment = JSON.stringify({ ...interruption, request: interruption?.request.source });
    expect([moment, code, left, next], `the output was: ${output}`).toEqual([
      moment,
      interruption === undefined ? 0 : EXIT_CODES[interruption.signal],
      [],
      undefined,
    ]);
    return output;
  }
  /** The live version and the alias's description. */
  async function readLive() {
    const lambda = new Lambda(client);
    const FunctionName = `${name}-develop`;
    const { FunctionVersion, Description } = await lambda.getAlias({ FunctionName, Name: 'live' });
    lambda.destroy();
    return `${FunctionVersion}: ${Description}`;
  }
  return { deploy, change, readLive };
}

const NOTHING = 'Interrupted. Nothing was changed.';
const APPLIED = 'Interrupted. The plan is applied.';
const SAVED = 'Interrupted. Terraform has saved what it changed. Version 1 of ';
const LOCK = /^PUT \/stop-\w+-state\/env.*\.tflock/;

/** Moments around an apply of one stage. */
const AROUND: readonly (readonly [request: RegExp, signal: Signal, message: string])[] = [
  [/^GET \/stop-\w+-state\/?\?/, 'SIGINT', NOTHING],
  // The workspace is created.
  [/^PUT \/stop-\w+-state\/env[^?]*\.tfstate(\?|$)/, 'SIGINT', NOTHING],
  [LOCK, 'SIGINT', NOTHING],
  [LOCK, 'SIGKILL', ''],
  [/^PUT .*-site-.*\/assets\//, 'SIGINT', APPLIED],
  [/^GET \/smoke-test/, 'SIGINT', APPLIED],
];
/** Moments of a first apply; each row is a new stage. */
const APPLY: readonly Omit<Interruption, 'signal'>[] = [
  { request: /CreateTable/, when: 'before' },
  { request: /Action=CreateRole\b/, when: 'in flight' },
  { request: /^POST \/v2\/apis /, when: 'in flight' },
  { request: /PutMetricAlarm/, when: 'after' },
  { request: /^POST \/2015-03-31\/functions /, when: 'in flight' },
];

describe.concurrent('npm run deploy, interrupted', needsEmulator, () => {
  it('around the apply: leaves nothing behind, and the next deployment succeeds', async (context) => {
    const { deploy } = await createStage(context);
    for (const [request, signal, message] of AROUND) {
      expect(await deploy({ request, when: 'after', signal })).toContain(message);
    }
    expect(await deploy()).toContain('Deployed: ');
  });

  it('killed in its smoke test: the next one tests the version that is live', async (context) => {
    const { deploy, change, readLive } = await createStage(context, OWN);
    await deploy();
    expect(await readLive()).toBe('1: Passed its smoke test: 1.');
    change('inquiries.zip', '// another');
    await deploy({ request: /^GET \/smoke-test/, when: 'before', signal: 'SIGKILL' });
    expect(await readLive()).toBe('2: Passed its smoke test: 1.');
    expect(await deploy()).toMatch(/not tested to the end[^]*^Deployed: /m);
    expect(await readLive()).toBe('2: Passed its smoke test: 2.');
  });

  it.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    '%s in a first apply: Terraform ends by itself, its state is whole, the next run succeeds',
    async (signal, context) => {
      for (const moment of APPLY) {
        const { deploy } = await createStage(context, OWN);
        const output = await deploy({ ...moment, signal });
        const waiting = `\n${signal}: waiting for terraform apply to end …\n`;
        const said = signal === 'SIGKILL' ? [] : [waiting, 'Apply complete!', SAVED];
        for (const text of said) expect(output).toContain(text);
        // Nothing exists that the state lacks.
        expect(await deploy()).toMatch(/^(Plan: 0 to add, |No changes\.)[^]*^Deployed: /m);
      }
    },
  );
});
