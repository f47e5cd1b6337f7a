/**
 * `npm run deploy` with a real Terraform, its state and lock in a bucket, interrupted at ten moments, where
 * AWS_ENDPOINT_URL names an emulator of AWS (tests/infra/stages.apply.test.ts). A moment is a request to the emulator, so that
 * it does not depend on the speed of the machine.
 */
import { existsSync, globSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createStages, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
if (endpoint === '') {
  process.stdout.write(
    '\nSKIPPED: interrupted deployments, because AWS_ENDPOINT_URL names no emulator of AWS.\n',
  );
}

/** The request that the signal waits for, and what happens when it has been answered. */
let moment: RegExp | undefined;
let reach = (): void => {};
let emulator: Awaited<ReturnType<typeof startEmulatorProxy>>;

/** A stage with its own bucket for the state. */
async function createStage(name: string, proxyUrl: string) {
  const { folder, bucket, s3, start, remove } = await createStages(name, proxyUrl, { develop: {} });
  onTestFinished(remove);

  async function deploy(interruptAt?: RegExp, signal: NodeJS.Signals = 'SIGINT') {
    const { child, ended } = start('develop', '--yes');
    moment = interruptAt;
    reach = () => void child.kill(signal);
    return { ...(await ended), isReached: moment === undefined };
  }
  /** Temporary folders, processes and locks that a deployment should not leave. */
  async function listLeftovers(): Promise<string[]> {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    const locks = Contents.map(({ Key = '' }) => Key).filter((key) => key.endsWith('.tflock'));
    const processes = globSync('/proc/[0-9]*/cwd').filter((link) => {
      try {
        return readlinkSync(link).startsWith(folder);
      } catch {
        return false; // it has ended, or is another user's
      }
    });
    const failed = existsSync(join(folder, 'infra/terraform/errored.tfstate')) ? ['errored.tfstate'] : [];
    return [...locks, ...processes, ...failed, ...readdirSync(join(folder, 'tmp'))];
  }
  return { deploy, listLeftovers };
}

describe.skipIf(endpoint === '')(
  'npm run deploy, interrupted (skipped without AWS_ENDPOINT_URL)',
  { timeout: 900_000 },
  () => {
    let url = '';
    const run = crypto.randomUUID().slice(0, 8);
    beforeAll(async () => {
      // After the answer: what AWS has made while Terraform stops waiting for it is not in the state (docs/runbook.md).
      emulator = await startEmulatorProxy(endpoint, (request) => {
        if (!moment?.test(request)) return;
        moment = undefined;
        reach();
      });
      url = emulator.url;
      process.stdout.write(`\nLEFT OUT:\n  ${STAGE_LEFT_OUT.join('\n  ')}\n`);
      process.stdout.write(`\nADDED to the emulator:\n  ${PROXY_GAPS.join('\n  ')}\n`);
    });
    afterAll(() => emulator.stop());

    const PLANNING = 'Interrupted while planning: nothing was changed.\n';
    const APPLYING =
      'Interrupted while applying: Terraform saved what it had changed. Run the same command again.\n';
    /** Of each stage the moments, and what the command says. */
    const STAGES: Record<string, [string, RegExp, string][]> = {
      first: [
        ['the workspace is created', /^PUT \/first-\w+-state\/env[^?]*\.tfstate(\?|$)/, PLANNING],
        ['init reads the bucket', /^GET \/first-\w+-state\/?\?/, PLANNING],
        ['the plan takes the lock', /^PUT \/first-\w+-state\/env.*\.tflock/, PLANNING],
        ['the upload reads the bucket', /^HEAD .*-site-.*\/assets\//, 'Interrupted while uploading the form'],
        ['the stage is tested', /^GET \/smoke-test/, 'Interrupted while testing the stage'],
      ],
      second: [['the first role is created', /Action=CreateRole\b/, APPLYING]],
      third: [['a table is created', /CreateTable/, APPLYING]],
      fourth: [['the function is created', /^POST \/2015-03-31\/functions\b/, APPLYING]],
      fifth: [['the gateway is created', /^POST \/v2\/apis\/\w+\/stages/, APPLYING]],
      sixth: [['the alarms are created', /PutMetricAlarm/, APPLYING]],
    };
    it.each(Object.entries(STAGES))(
      'the %s stage: each interruption leaves nothing behind, and the next deployment succeeds',
      async (key, moments) => {
        const { deploy, listLeftovers } = await createStage(`${key}-${run}`, url);
        for (const [title, interruptAt, message] of moments) {
          const interrupted = await deploy(interruptAt);
          expect.soft([title, interrupted.isReached, interrupted.code]).toEqual([title, true, 130]);
          expect(interrupted.output).toContain(message);
          expect(await listLeftovers()).toEqual([]);
          const next = await deploy();
          expect([title, next.code, next.output]).toEqual([title, 0, expect.stringMatching(/eployed: /)]);
          expect(await listLeftovers()).toEqual([]);
        }
      },
    );
  },
);
