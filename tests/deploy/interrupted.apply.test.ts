/**
 * `npm run deploy` with a real Terraform, its state and lock in a bucket, interrupted and killed, where AWS_ENDPOINT_URL
 * names an emulator of AWS (tests/infra/stages.apply.test.ts). A moment is a request to the emulator, so that it does not depend
 * on the speed of the machine. Interruptions before and after the apply: tests/deploy/deploy.test.ts and form.test.ts.
 */
import { existsSync, globSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { expect, it, vi } from 'vitest';
import type { TestContext } from 'vitest';
import { createStages, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';
import type { Moment } from '../helpers/emulator.ts';

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
process.stdout.write(
  endpoint === ''
    ? '\nSKIPPED: interrupted deployments, because AWS_ENDPOINT_URL names no emulator of AWS.\n'
    : `\nLEFT OUT:\n  ${STAGE_LEFT_OUT.join('\n  ')}\n\nADDED to the emulator:\n  ${PROXY_GAPS.join('\n  ')}\n`,
);

type Signal = 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM';
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGKILL: null, SIGTERM: 143 };

interface Interruption {
  readonly request: RegExp;
  readonly when: Moment;
  readonly signal: Signal;
  readonly times: number;
  /** Also to the other processes of its group, as Ctrl-C at a terminal. */
  readonly group: boolean;
}

/** Settings of a stage with fewer resources: its own issuer and page. */
const OWN = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};

/** A new stage with its own bucket for the state, and its own way to the emulator. */
async function createStage({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  let next: Interruption | undefined;
  let interrupt: ((found: Interruption) => Promise<void>) | undefined;
  const emulator = await startEmulatorProxy(endpoint, async (request, when) => {
    if (next?.when !== when || !next.request.test(request)) return;
    const found = next;
    next = undefined;
    await interrupt?.(found);
  });
  const name = `stop-${crypto.randomUUID().slice(0, 8)}`;
  const { folder, bucket, s3, start, remove } = await createStages(name, emulator.url, { develop: OWN });
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
    interrupt = async ({ signal, times, group }) => {
      for (let time = 0; time < times && child.exitCode === null && child.signalCode === null; time += 1) {
        process.kill(group ? -Number(child.pid) : Number(child.pid), signal);
        await sleep(300);
      }
    };
    const result = await ended;
    await vi.waitFor(() => expect(listProcesses()).toEqual([]), { timeout: 300_000, interval: 500 });
    // A command that is killed cannot remove its temporary folder.
    if (result.code === null)
      for (const path of globSync(join(folder, 'tmp/deploy-*'))) rmSync(path, { recursive: true });
    return { ...result, isReached: next === undefined };
  }
  /** Locks, states and temporary folders that a deployment should not leave. */
  async function listLeftovers(): Promise<string[]> {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    const locks = Contents.map(({ Key = '' }) => Key).filter((key) => key.endsWith('.tflock'));
    const failed = existsSync(join(folder, 'infra/terraform/errored.tfstate')) ? ['errored.tfstate'] : [];
    return [...locks, ...failed, ...readdirSync(join(folder, 'tmp'))];
  }
  return { deploy, listLeftovers };
}

const SAVED = 'Interrupted. Terraform has saved what it changed. No version is tested yet.';

/** Moments of a first apply; each row is a new stage. */
const APPLY: readonly (readonly [request: RegExp, when: Moment, times?: number, group?: boolean])[] = [
  [/CreateTable/, 'before'],
  [/Action=CreateRole\b/, 'in flight', 2],
  [/^POST \/v2\/apis /, 'in flight', 1, true],
  [/PutMetricAlarm/, 'after', 2, true],
  [/^POST \/2015-03-31\/functions /, 'in flight'],
];

it.skipIf(endpoint === '').concurrent.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
  '%s in a first apply: Terraform ends by itself, everything is in the state, and the same command succeeds (skipped without AWS_ENDPOINT_URL)',
  { timeout: 1_800_000 },
  async (signal, context) => {
    for (const [request, when, times = 1, group = false] of APPLY) {
      const moment = `${signal} × ${times} ${when} ${request.source}${group ? ', to the group' : ''}`;
      const { deploy, listLeftovers } = await createStage(context);
      const { isReached, code, output } = await deploy({ request, when, signal, times, group });
      expect([moment, isReached, code]).toEqual([moment, true, EXIT_CODES[signal]]);
      const waiting = `\n${signal}: waiting for terraform apply to end …\n`;
      const said = signal === 'SIGKILL' ? [] : [waiting, 'Apply complete!', SAVED];
      expect([moment, said.filter((part) => !output.includes(part))]).toEqual([moment, []]);
      expect([moment, await listLeftovers()]).toEqual([moment, []]);
      const again = await deploy();
      // Nothing exists that the state lacks.
      const deployed = expect.stringMatching(/\n {2}plan {6}0 to create, [^]*eployed: /);
      expect([moment, again.code, again.output]).toEqual([moment, 0, deployed]);
      process.stdout.write(`passed: ${moment}\n`);
    }
  },
);
