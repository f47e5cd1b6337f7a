/**
 * `npm run deploy` with a real Terraform on an emulator (tests/infra/stages.apply.test.ts), with state and lock in a
 * bucket, interrupted and killed. A moment is a request to the emulator, whatever the machine's speed.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { describe, expect, it, vi, type TestContext } from 'vitest';
import { toEvent } from '../../lib/contract/contract-checks.ts';
import { isAlive } from '../../lib/running-stack.ts';
import { parseObject, readIfThere } from '../../lib/terminal/command-line.ts';
import { createStages, needsEmulator, OWN } from './emulator-stages.ts';
import type { Moment } from './emulator.ts';

/** deploy/checkout-lock.ts */
const HOLDER = 'infra/terraform/.terraform/holder.json';

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
    // A process that is about to end has no folder any more, and still holds the checkout.
    const isHeld = () => {
      const holder = parseObject(readIfThere(join(folder, HOLDER)) ?? '');
      return isAlive(holder?.['program'] as number | undefined);
    };
    await vi.waitFor(() => expect([listProcesses(), isHeld()]).toEqual([[], false]), {
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
    const expected = interruption === undefined ? 0 : EXIT_CODES[interruption.signal];
    // The second signal may meet a process that no longer waits for one.
    const exit = interruption === undefined ? code : (code ?? expected);
    expect([moment, exit, left, next], `the output was: ${output}`).toEqual([
      moment,
      expected,
      [],
      undefined,
    ]);
    return output;
  }
  /** Whether users get the package of dist/, and whether it has passed its smoke test. */
  async function readLive() {
    const lambda = new Lambda(client);
    const FunctionName = `${name}-develop`;
    const { FunctionVersion, Description } = await lambda.getAlias({ FunctionName, Name: 'live' });
    const { CodeSha256 } = await lambda.getFunctionConfiguration({
      FunctionName,
      Qualifier: 'live',
    });
    const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
    const Payload = JSON.stringify(toEvent({ method: 'GET' }, claims));
    const answer = await lambda.invoke({ FunctionName, Qualifier: 'live', Payload });
    const { statusCode } = JSON.parse(answer.Payload?.transformToString() ?? '');
    lambda.destroy();
    const zip = readFileSync(join(folder, 'dist/inquiries.zip'));
    const isNew = CodeSha256 === createHash('sha256').update(zip).digest('base64');
    const isTested = Description === `Passed its smoke test: ${FunctionVersion}.`;
    return [statusCode, isNew ? 'new' : 'before', isTested ? 'tested' : 'not tested'].join(' ');
  }
  return { deploy, change, readLive };
}

const NOTHING = 'Interrupted. Nothing was changed.';
const APPLIED = 'Interrupted. The plan is applied.';
const SAVED = 'Interrupted. Terraform has saved what it changed. Version 1 of ';
const LOCK = /^PUT \/stop-\w+-state\/env.*\.tflock/;

/** Moments around an apply of one stage, the signals that it gets then, and what SIGINT makes it say. */
const AROUND: readonly (readonly [request: RegExp, message: string, ...signals: Signal[]])[] = [
  [/^GET \/stop-\w+-state\/?\?/, NOTHING, 'SIGKILL', 'SIGINT'],
  // The workspace is created once, so only one signal meets its creation.
  [/^PUT \/stop-\w+-state\/env[^?]*\.tfstate(\?|$)/, NOTHING, 'SIGINT'],
  [LOCK, NOTHING, 'SIGKILL', 'SIGINT'],
  [/^PUT .*-site-.*\/assets\//, APPLIED, 'SIGKILL', 'SIGINT'],
  [/^GET \/smoke-test/, APPLIED, 'SIGKILL', 'SIGINT'],
];
/** Moments of a first apply, and the signals that it gets then, each of a new stage. */
const APPLY: readonly (readonly [request: RegExp, when: Moment, ...signals: Signal[]])[] = [
  [/CreateTable/, 'before', 'SIGKILL', 'SIGINT'],
  [/Action=CreateRole\b/, 'in flight', 'SIGKILL', 'SIGTERM'],
  [/^POST \/v2\/apis /, 'in flight', 'SIGKILL', 'SIGHUP'],
  [/PutMetricAlarm/, 'after', 'SIGKILL'],
  [/^POST \/2015-03-31\/functions /, 'in flight', 'SIGKILL'],
];
/**
 * Moments of a second deployment at which it is killed, and what users get afterwards. Terraform, which is not killed,
 * ends its apply, and with it the gate.
 */
const SECOND: readonly (readonly [request: RegExp, when: Moment, users: 'before' | 'new'])[] = [
  [/Action=GetCallerIdentity/, 'before', 'before'],
  [/^GET .*\/aliases\/live/, 'in flight', 'before'],
  [/DescribeTimeToLive/, 'before', 'before'],
  [/^DELETE .*\.tflock/, 'after', 'before'],
  [/^PUT .*\/functions\/[^/]+\/code/, 'before', 'new'],
  [/^POST .*\/versions/, 'in flight', 'new'],
  [/^POST .*\/invocations/, 'before', 'new'],
  [/^PUT .*\/aliases\/live/, 'before', 'new'],
  [/^PUT .*\/aliases\/live/, 'after', 'new'],
  [/^PUT .*\/env[^?]*\.tfstate(\?|$)/, 'after', 'new'],
  [/^GET \/smoke-test/, 'before', 'new'],
];

describe.concurrent('npm run deploy, interrupted', needsEmulator, () => {
  it('around the apply: leaves nothing behind, and the next deployment succeeds', async (context) => {
    const { deploy } = await createStage(context);
    for (const [request, message, ...signals] of AROUND) {
      for (const signal of signals) {
        const output = await deploy({ request, when: 'after', signal });
        expect(output).toContain(signal === 'SIGINT' ? message : '');
      }
    }
    expect(await deploy()).toContain('Deployed: ');
  });

  it('killed: users get a version that the gate has passed, and the next run tests it', async (context) => {
    const { deploy, change, readLive } = await createStage(context, OWN);
    await deploy();
    expect(await readLive()).toBe('200 new tested');
    for (const [at, [request, when, users]] of SECOND.entries()) {
      change('inquiries.zip', `// ${at}`);
      await deploy({ request, when, signal: 'SIGKILL' });
      const state = users === 'new' ? 'not tested' : 'tested';
      expect([at, await readLive()]).toEqual([at, `200 ${users} ${state}`]);
      const output = await deploy();
      expect(output).toContain('Deployed: ');
      expect(output.includes('was not tested to the end')).toBe(users === 'new');
      expect(await readLive()).toBe('200 new tested');
    }
  });

  it.for(APPLY)(
    'in a first apply, at %s: Terraform ends, its state is whole, the next run succeeds',
    async ([request, when, ...signals], context) => {
      for (const signal of signals) {
        const { deploy } = await createStage(context, OWN);
        const output = await deploy({ request, when, signal });
        const waiting = `\n${signal}: waiting for terraform apply to end …\n`;
        const said = signal === 'SIGKILL' ? [] : [waiting, 'Apply complete!', SAVED];
        for (const text of said) expect(output).toContain(text);
        // Nothing exists that the state lacks.
        expect(await deploy()).toMatch(/^(Plan: 0 to add, |No changes\.)[^]*^Deployed: /m);
      }
    },
  );
});
