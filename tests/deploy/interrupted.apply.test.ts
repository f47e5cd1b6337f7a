/**
 * `npm run deploy` with a real Terraform, its state and lock in a bucket, interrupted and killed, where AWS_ENDPOINT_URL
 * names an emulator of AWS (tests/infra/stages.apply.test.ts). A moment is a request to the emulator, so that it does not depend
 * on the speed of the machine.
 */
import { existsSync, globSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi, type TestContext } from 'vitest';
import { announce, createStages, endpoint, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy, type Moment } from '../helpers/emulator.ts';

announce('interrupted deployments', STAGE_LEFT_OUT, PROXY_GAPS);

type Signal = 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM';
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGKILL: null, SIGTERM: 143 };

interface Interruption {
  readonly request: RegExp;
  readonly when: Moment;
  readonly signal: Signal;
  readonly times?: number;
  /** Also to the other processes of its group, as Ctrl-C at a terminal. */
  readonly group?: boolean;
}

/** A new stage with its own bucket for the state, and its own way to the emulator. */
async function createStage({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, settings = {}) {
  let next: Interruption | undefined;
  let interrupt: ((found: Interruption) => Promise<void>) | undefined;
  const emulator = await startEmulatorProxy(endpoint, async (request, when) => {
    if (next?.when !== when || !next.request.test(request)) return;
    const found = next;
    next = undefined;
    await interrupt?.(found);
  });
  const name = `stop-${crypto.randomUUID().slice(0, 8)}`;
  const { folder, bucket, s3, start, remove } = await createStages(name, emulator.url, {
    develop: settings,
  });
  onTestFinished(async () => {
    remove();
    await emulator.stop();
  });
  const listProcesses = (): string[] =>
    globSync('/proc/[0-9]*/cwd').filter((link) => {
      try {
        return readlinkSync(link).startsWith(folder);
      } catch {
        return false; // it has ended, or is another user's
      }
    });

  /** Deploys, and waits for the end of all processes. */
  async function deploy(interruption?: Interruption) {
    const { child, ended } = start('develop', '--yes');
    next = interruption;
    interrupt = async ({ signal, times = 1, group = false }) => {
      for (
        let time = 0;
        time < times && child.exitCode === null && child.signalCode === null;
        time += 1
      ) {
        process.kill(group ? -Number(child.pid) : Number(child.pid), signal);
        await sleep(300);
      }
    };
    const result = await ended;
    await vi.waitFor(() => expect(listProcesses()).toEqual([]), {
      timeout: 300_000,
      interval: 500,
    });
    // A command that is killed cannot remove its temporary folder.
    if (result.code === null) {
      for (const path of globSync(join(folder, 'tmp/deploy-*'))) rmSync(path, { recursive: true });
    }
    return { ...result, isReached: next === undefined };
  }
  /** Locks, states and temporary folders that a deployment should not leave. */
  async function listLeftovers(): Promise<string[]> {
    const { Contents = [] } = await s3.listObjectsV2({ Bucket: bucket });
    const locks = Contents.map(({ Key = '' }) => Key).filter((key) => key.endsWith('.tflock'));
    const failed = existsSync(join(folder, 'infra/terraform/errored.tfstate'))
      ? ['errored.tfstate']
      : [];
    return [...locks, ...failed, ...readdirSync(join(folder, 'tmp'))];
  }
  return { deploy, listLeftovers };
}

const NOTHING = 'Interrupted. Nothing was changed.';
const APPLIED = 'Interrupted. The plan is applied.';
const SAVED = 'Interrupted. Terraform has saved what it changed. Version 1 of ';

/** Settings of a stage with fewer resources: its own issuer and page. */
const OWN = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};

/** Moments of a first apply; each row is a new stage. */
const APPLY: readonly (readonly [
  request: RegExp,
  when: Moment,
  times?: number,
  group?: boolean,
])[] = [
  [/CreateTable/, 'before'],
  [/Action=CreateRole\b/, 'in flight', 2],
  [/^POST \/v2\/apis /, 'in flight', 1, true],
  [/PutMetricAlarm/, 'after', 2, true],
  [/^POST \/2015-03-31\/functions /, 'in flight'],
];

describe
  .skipIf(endpoint === '')
  .concurrent(
    'npm run deploy, interrupted (skipped without AWS_ENDPOINT_URL)',
    { timeout: 1_800_000 },
    () => {
      it('around the apply: leaves nothing behind, and the next deployment succeeds', async (context) => {
        const { deploy, listLeftovers } = await createStage(context);
        const lock = /^PUT \/stop-\w+-state\/env.*\.tflock/;
        const moments: [request: RegExp, signal: Signal, message: string][] = [
          [/^GET \/stop-\w+-state\/?\?/, 'SIGINT', NOTHING],
          // The workspace is created.
          [/^PUT \/stop-\w+-state\/env[^?]*\.tfstate(\?|$)/, 'SIGINT', NOTHING],
          [lock, 'SIGINT', NOTHING],
          [lock, 'SIGKILL', ''],
          [/^HEAD .*-site-.*\/assets\//, 'SIGINT', APPLIED],
          [/^GET \/smoke-test/, 'SIGINT', APPLIED],
        ];
        for (const [request, signal, message] of moments) {
          const interrupted = await deploy({ request, when: 'after', signal });
          expect(
            [request, interrupted.isReached, interrupted.code],
            `the output was: ${interrupted.output}`,
          ).toEqual([request, true, EXIT_CODES[signal]]);
          expect(interrupted.output).toContain(message);
          expect([request, await listLeftovers()]).toEqual([request, []]);
        }
        const next = await deploy();
        expect([next.code, next.output]).toEqual([0, expect.stringContaining('eployed: ')]);
      });

      it.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
        '%s in a first apply: Terraform ends by itself, everything is in the state, and the same command succeeds',
        async (signal, context) => {
          for (const [request, when, times = 1, group = false] of APPLY) {
            const moment = `${signal} × ${times} ${when} ${request.source}${group ? ', to the group' : ''}`;
            const { deploy, listLeftovers } = await createStage(context, OWN);
            const interrupted = await deploy({ request, when, signal, times, group });
            expect(
              [moment, interrupted.isReached, interrupted.code],
              `the output was: ${interrupted.output}`,
            ).toEqual([moment, true, EXIT_CODES[signal]]);
            const said =
              signal === 'SIGKILL'
                ? []
                : [`\n${signal}: waiting for terraform apply to end …\n`, 'Apply complete!', SAVED];
            expect(said.filter((text) => !interrupted.output.includes(text))).toEqual([]);
            expect([moment, await listLeftovers()]).toEqual([moment, []]);
            const again = await deploy();
            // Nothing exists that the state lacks.
            expect([moment, again.output]).toEqual([
              moment,
              expect.stringMatching(/^(Plan: 0 to add, |No changes\.)/m),
            ]);
            expect([moment, again.code, again.output]).toEqual([
              moment,
              0,
              expect.stringContaining('eployed: '),
            ]);
          }
        },
      );
    },
  );
