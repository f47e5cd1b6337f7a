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
import { toEvent } from '../../deploy/invoke.ts';
import { providerSource } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import {
  announce,
  clientOf,
  createStages,
  endpoint,
  STAGE_LEFT_OUT,
} from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

announce('packages', STAGE_LEFT_OUT, PROXY_GAPS);

const OWN = {
  issuer: 'https://issuer.example.com',
  audience: ['client'],
  cors_origin: 'https://www.example.com',
};
const inbox = { to: 'team@example.com', from: 'inquiries@example.com', identity: 'example.com' };

/** The package with other code around its handler. */
function wrap(zip: 'inquiries' | 'mailer', module: 'handler' | 'mailer', code: string): Uint8Array {
  const [original] = Object.values(unzipSync(readFileSync(join(ROOT, `dist/${zip}.zip`))));
  return zipSync({
    'original.mjs': original ?? new Uint8Array(),
    [`${module}.mjs`]: Buffer.from(
      `import { handler as original } from './original.mjs';\n${code}`,
    ),
  });
}
const wrapFunction = (code: string) => ({ 'inquiries.zip': wrap('inquiries', 'handler', code) });
const wrapMailer = (code: string) => ({ 'mailer.zip': wrap('mailer', 'mailer', code) });
const CHANGED = 'export const handler = (event, context) => original(event, context);';

/** With what Terraform says of each; nothing of one that works. */
const PACKAGES: [name: string, files: Record<string, Uint8Array>, says: string][] = [
  ['works', {}, ''],
  ['throws at init', wrapFunction(`throw new Error('broken at init');`), 'broken at init'],
  [
    'answers a POST with 500',
    wrapFunction(`export const handler = async (event, context) =>
  event.requestContext.http.method === 'POST' && event.body
    ? { statusCode: 500, headers: {}, body: '{"error":"broken"}' }
    : original(event, context);`),
    'is not live: it answered a POST with 500',
  ],
  [
    'lists nothing',
    wrapFunction(`export const handler = async (event, context) =>
  event.requestContext.http.method === 'GET' && event.requestContext.authorizer
    ? { statusCode: 200, headers: {}, body: '{"email":"","count":0,"inquiries":[]}' }
    : original(event, context);`),
    'is not live: it listed 200',
  ],
  [
    'has a mailer that throws at init',
    wrapMailer(`throw new Error('mailer broken');`),
    'mailer broken',
  ],
  [
    'has a mailer that fails for records',
    wrapMailer(`export const handler = async (event, context) => 'Records' in event
  ? { batchItemFailures: [{ itemIdentifier: '1' }] }
  : original(event, context);`),
    'is not live: it answered a record with',
  ],
];

describe.skipIf(endpoint === '')(
  'packages (skipped without AWS_ENDPOINT_URL)',
  { timeout: 1_800_000 },
  () => {
    const name = `pack-${crypto.randomUUID().slice(0, 8)}`;
    const FunctionName = `${name}-develop`;
    let emulator: Awaited<ReturnType<typeof startEmulatorProxy>>;
    let stages: Awaited<ReturnType<typeof createStages>>;
    let lambda: Lambda;
    /** Holds the next smoke test until it is settled. */
    let held: PromiseWithResolvers<void> | undefined;
    const reached = Promise.withResolvers<void>();
    beforeAll(async () => {
      emulator = await startEmulatorProxy(endpoint, async (request, moment) => {
        if (moment !== 'before' || !request.includes('/smoke-test') || held === undefined) return;
        const { promise } = held;
        held = undefined;
        reached.resolve();
        await promise;
      });
      stages = await createStages(name, emulator.url, { develop: { ...OWN, inbox } });
      lambda = new Lambda(stages.client);
      const ses = new SESv2(clientOf(endpoint));
      // It may be there from an earlier run.
      await ses.createEmailIdentity({ EmailIdentity: inbox.identity }).catch(() => undefined);
    });
    afterAll(async () => {
      lambda.destroy();
      stages.remove();
      await emulator.stop();
    });

    const write = (files: Record<string, Uint8Array>, folder = stages.folder): void => {
      cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
      for (const [file, content] of Object.entries(files)) {
        writeFileSync(join(folder, 'dist', file), content);
      }
    };
    const terraform = async (...args: string[]) => {
      const { code, output } = await stages.terraform('develop', ...args);
      return code === 0 ? '' : output;
    };
    const apply = () => terraform('apply', '-no-color', '-auto-approve');
    const readLive = async (suffix = '') => {
      const of = { FunctionName: FunctionName + suffix, Name: 'live' };
      return (await lambda.getAlias(of)).FunctionVersion;
    };
    const readAll = () => Promise.all(['', '-mailer', '-mailer-replies'].map(readLive));

    const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
    const post = { method: 'POST', body: '{"subject":"s","body":"b"}' };
    /** @returns What users get until the promise is settled: how often each status. */
    async function useMeanwhile(running: Promise<string>) {
      const answers: Record<number, number> = {};
      const ended = running.then(() => true);
      while (!(await Promise.race([ended, sleep(300, false)]))) {
        for (const request of [post, { method: 'GET' }]) {
          const Payload = JSON.stringify(toEvent(request, claims));
          const found = await lambda.invoke({ FunctionName, Qualifier: 'live', Payload });
          const { statusCode = 0 } = JSON.parse(found.Payload?.transformToString() ?? '') as {
            statusCode?: number;
          };
          answers[statusCode] = (answers[statusCode] ?? 0) + 1;
        }
      }
      // Terraform breaks lines.
      return { output: (await running).replaceAll(/\s+/g, ' '), answers };
    }

    it('plain terraform apply makes a package that works live, and one that does not never, while users notice nothing', async () => {
      const init = ['-no-color', '-backend-config=backend.s3.tfbackend'];
      await stages.terraform('default', 'init', ...init, ...providerSource(stages.env));
      expect(await apply()).toBe('');
      expect(await readAll()).toEqual(['1', '1', '1']);

      for (const [what, files, says] of PACKAGES) {
        write({ ...wrapFunction(CHANGED), ...files });
        const before = await readAll();
        const { output, answers } = await useMeanwhile(apply());
        process.stdout.write(`a package that ${what}: users got ${JSON.stringify(answers)}\n`);
        const expected = expect.stringMatching(says === '' ? /^$/ : says) as string;
        expect([what, output]).toEqual([what, expected]);
        expect([what, Object.keys(answers)]).toEqual([what, ['200', '201']]);
        const after = await readAll();
        // The function is not the mailer's: beside a broken mailer, it is live.
        const same = 'mailer.zip' in files ? 1 : 0;
        const live = says === '' ? ['2', '1', '1'] : before;
        expect([what, after.slice(same)]).toEqual([what, live.slice(same)]);
      }
      write({});
      expect(await apply()).toBe('');
      expect(await terraform('plan', '-no-color', '-detailed-exitcode')).toBe('');
    });

    it('two deployments in every order of their plans and applies: the last line of each is true', async () => {
      write({});
      const clones = { a: `${stages.folder}-a`, b: `${stages.folder}-b` };
      for (const folder of Object.values(clones)) {
        cpSync(stages.folder, folder, { recursive: true, verbatimSymlinks: true });
      }
      /** Each deploys a package of its own. */
      const plan = async (clone: 'a' | 'b', order: string) => {
        const folder = clones[clone];
        write(wrapFunction(`${CHANGED} // ${clone} in ${order}`), folder);
        const args = ['develop', '--plan-only', '--plan', `${folder}/plan`];
        expect(await stages.startIn(folder, ...args).ended).toMatchObject({ code: 0 });
      };
      const deploy = async (clone: 'a' | 'b') => {
        const args = ['develop', '--yes', '--plan', `${clones[clone]}/plan`];
        const { code, output } = await stages.startIn(clones[clone], ...args).ended;
        const last = output.trim().split('\n').at(-1);
        process.stdout.write(`${clone}: exit code ${code}, ${last}\n`);
        const live = `Version ${await readLive()} of ${FunctionName} is live. `;
        expect(code === 0 ? output : last).toContain(code === 0 ? 'Deployed: https://' : live);
        return { code, output };
      };
      try {
        for (const order of ['aabb', 'abab', 'abba', 'baab', 'baba', 'bbaa']) {
          const planned = new Set<string>();
          const ends: string[] = [];
          for (const clone of order as Iterable<'a' | 'b'>) {
            if (planned.has(clone)) {
              const { code, output } = await deploy(clone);
              ends.push(`${code}${output.includes('Saved plan is stale') ? ' stale' : ''}`);
            } else {
              await plan(clone, order);
              planned.add(clone);
            }
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
        expect(await deploy('b')).toMatchObject({ code: 0 });
        const live = await readLive();
        hold.resolve();
        const { code, output } = await overtaken;
        expect([code, await readLive()]).toEqual([1, live]);
        expect(output).toContain(
          `Another command has made version ${live} of ${FunctionName} live`,
        );
      } finally {
        for (const folder of Object.values(clones)) {
          rmSync(folder, { recursive: true, force: true });
        }
      }
    });
  },
);
