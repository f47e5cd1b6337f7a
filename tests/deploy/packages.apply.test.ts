/**
 * What users get while packages are deployed, with a real Terraform where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts): plain `terraform apply` of packages that work and of broken ones, and two deployments
 * at the same time.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { unzipSync, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { providerSource } from '../../deploy/terraform.ts';
import { toEvent } from '../../lib/contract-checks.ts';
import { ROOT } from '../../lib/paths.ts';
import {
  announceStages,
  clientOf,
  createStages,
  endpoint,
  OWN,
  type Stages,
} from '../helpers/emulator-stages.ts';

announceStages('packages');

const inbox = { to: 'team@example.com', from: 'inquiries@example.com', identity: 'example.com' };
const MODULES = { 'inquiries.zip': 'handler.mjs', 'mailer.zip': 'mailer.mjs' };
type Zip = keyof typeof MODULES;

/** A package with other code around its handler. */
function wrap(zip: Zip, code: string): Uint8Array {
  const [original = new Uint8Array()] = Object.values(
    unzipSync(readFileSync(join(ROOT, 'dist', zip))),
  );
  const module = `import { handler as original } from './original.mjs';\n${code}`;
  return zipSync({ 'original.mjs': original, [MODULES[zip]]: Buffer.from(module) });
}
/** The handler of a package that answers events of a kind otherwise. */
const answer = (kind: string, otherwise: object): string =>
  `export const handler = async (event, context) =>
    ${kind} ? ${JSON.stringify(otherwise)} : original(event, context);`;
const WORKS = answer('false', {});

/** With what Terraform says of each; nothing of one that works. */
const PACKAGES: readonly (readonly [what: string, zip: Zip, code: string, error: string])[] = [
  ['works', 'inquiries.zip', WORKS, ''],
  ['throws at init', 'inquiries.zip', `throw new Error('broken at init');`, 'broken at init'],
  [
    'answers a POST with 500',
    'inquiries.zip',
    answer(`event.requestContext.http.method === 'POST'`, {
      statusCode: 500,
      headers: {},
      body: '{"error":"broken"}',
    }),
    'answered 500: {"error":"broken"}',
  ],
  [
    'lists nothing',
    'inquiries.zip',
    answer(`event.requestContext.http.method === 'GET' && event.requestContext.authorizer`, {
      statusCode: 200,
      headers: {},
      body: '{"email":"","count":0,"inquiries":[]}',
    }),
    'Access-Control-Allow-Origin is missing',
  ],
  ['mails nothing at init', 'mailer.zip', `throw new Error('mailer broken');`, 'mailer broken'],
  [
    'mails nothing for records',
    'mailer.zip',
    answer(`'Records' in event`, { batchItemFailures: [{ itemIdentifier: '1' }] }),
    'failed a record of a test is handled',
  ],
];

describe.skipIf(endpoint === '')('packages (skipped without AWS_ENDPOINT_URL)', () => {
  let stages: Stages;
  let lambda: Lambda;
  /** Holds the next smoke test until it is settled. */
  let held: PromiseWithResolvers<void> | undefined;
  const reached = Promise.withResolvers<void>();
  beforeAll(async () => {
    const develop = { ...OWN, inbox };
    stages = await createStages('pack', { develop }, async (request, moment) => {
      if (moment !== 'before' || !request.includes('/smoke-test') || held === undefined) return;
      const { promise } = held;
      held = undefined;
      reached.resolve();
      await promise;
    });
    lambda = new Lambda(stages.client);
    const ses = new SESv2(clientOf(endpoint));
    // It may be there from an earlier run.
    await ses.createEmailIdentity({ EmailIdentity: inbox.identity }).catch(() => undefined);
  });
  afterAll(async () => {
    lambda.destroy();
    await stages.remove();
  });

  const write = (zip: Zip, code: string, folder = stages.folder): void =>
    writeFileSync(join(folder, 'dist', zip), wrap(zip, code));
  const terraform = async (...args: string[]) => {
    const { code, output } = await stages.terraform('develop', ...args);
    // Terraform breaks lines.
    const error = output.slice(output.indexOf('Error: '));
    return code === 0 ? '' : error.replaceAll(/\s+/g, ' ');
  };
  const apply = () => terraform('apply', '-no-color', '-auto-approve');
  const readLive = async (suffix = '') => {
    const FunctionName = `${stages.name}-develop${suffix}`;
    return (await lambda.getAlias({ FunctionName, Name: 'live' })).FunctionVersion;
  };
  const readAll = () => Promise.all(['', '-mailer', '-mailer-replies'].map(readLive));

  const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
  const requests = [{ method: 'POST', body: '{"subject":"s","body":"b"}' }, { method: 'GET' }];
  /** @returns What users get until the promise is settled: how often each status. */
  async function useMeanwhile(running: Promise<string>) {
    const answers: Record<number, number> = {};
    const ended = running.then(() => true);
    while (!(await Promise.race([ended, sleep(300, false)]))) {
      for (const request of requests) {
        const found = await lambda.invoke({
          FunctionName: `${stages.name}-develop`,
          Qualifier: 'live',
          Payload: JSON.stringify(toEvent(request, claims)),
        });
        const { statusCode = 0 } = JSON.parse(found.Payload?.transformToString() ?? '') as {
          statusCode?: number;
        };
        answers[statusCode] = (answers[statusCode] ?? 0) + 1;
      }
    }
    return answers;
  }

  it('plain terraform apply makes only a working package live, and users notice nothing', async () => {
    const init = ['-no-color', '-backend-config=backend.s3.tfbackend'];
    await stages.terraform('default', 'init', ...init, ...providerSource(stages.env));
    expect(await apply()).toBe('');
    expect(await readAll()).toEqual(['1', '1', '1']);

    for (const [what, zip, code, error] of PACKAGES) {
      write('inquiries.zip', WORKS);
      write(zip, code);
      const before = await readAll();
      const running = apply();
      const answers = await useMeanwhile(running);
      process.stdout.write(`a package that ${what}: users got ${JSON.stringify(answers)}\n`);
      const says = await running;
      expect([what, says === '', says]).toEqual([
        what,
        error === '',
        expect.stringContaining(error),
      ]);
      expect([what, Object.keys(answers)]).toEqual([what, ['200', '201']]);
      const after = await readAll();
      // The function is not the mailer's: beside a broken mailer, it is live.
      const same = zip === 'mailer.zip' ? 1 : 0;
      const live = error === '' ? ['2', '1', '1'] : before;
      expect([what, after.slice(same)]).toEqual([what, live.slice(same)]);
    }
    cpSync(join(ROOT, 'dist'), join(stages.folder, 'dist'), { recursive: true });
    expect(await apply()).toBe('');
    expect(await terraform('plan', '-no-color', '-detailed-exitcode')).toBe('');
  });

  it('two deployments in every order of their plans and applies: the last line of each is true', async () => {
    type Clone = 'a' | 'b';
    const folderOf = (clone: Clone) => `${stages.folder}-${clone}`;
    /** Each deploys a package of its own. */
    const plan = async (clone: Clone, order: string) => {
      const folder = folderOf(clone);
      write('inquiries.zip', `${WORKS} // ${clone} in ${order}`, folder);
      const { ended } = stages.start('deploy', `develop --plan-only --plan ${folder}/plan`, folder);
      expect(await ended).toMatchObject({ code: 0 });
    };
    const deploy = async (clone: Clone) => {
      const folder = folderOf(clone);
      const { ended } = stages.start('deploy', `develop --yes --plan ${folder}/plan`, folder);
      const { code, output } = await ended;
      const last = output.trim().split('\n').at(-1);
      process.stdout.write(`${clone}: exit code ${code}, ${last}\n`);
      const live = `Version ${await readLive()} of ${stages.name}-develop is live. `;
      expect(code === 0 ? output : last).toContain(code === 0 ? 'Deployed: https://' : live);
      return `${code}${output.includes('Saved plan is stale') ? ' stale' : ''}${/Another command has made version \d+/.exec(output)?.[0] ?? ''}`;
    };
    try {
      for (const clone of ['a', 'b'] as const) {
        cpSync(stages.folder, folderOf(clone), { recursive: true, verbatimSymlinks: true });
      }
      for (const order of ['aabb', 'abab', 'abba', 'baab', 'baba', 'bbaa']) {
        const ends: string[] = [];
        for (const [step, clone] of (order.split('') as Clone[]).entries()) {
          if (order.indexOf(clone) === step) await plan(clone, order);
          else ends.push(await deploy(clone));
        }
        const isOneAfterTheOther = order[0] === order[1];
        expect([order, ends]).toEqual([order, ['0', isOneAfterTheOther ? '0' : '1 stale']]);
      }

      // b ends while a is tested.
      const hold = Promise.withResolvers<void>();
      held = hold;
      await plan('a', 'overtaken');
      const overtaken = deploy('a');
      await reached.promise;
      await plan('b', 'overtaking');
      expect(await deploy('b')).toBe('0');
      const live = await readLive();
      hold.resolve();
      expect(await overtaken).toBe(`1Another command has made version ${live}`);
      expect(await readLive()).toBe(live);
    } finally {
      for (const clone of ['a', 'b'] as const) {
        rmSync(folderOf(clone), { recursive: true, force: true });
      }
    }
  });
});
