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
import { afterAll, assert, beforeAll, describe, expect, it } from 'vitest';
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

/** With what Terraform says of each. */
const BROKEN: [name: string, files: Record<string, Uint8Array>, says: string][] = [
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
    let reached = Promise.withResolvers<void>();
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
      for (const [file, content] of Object.entries(files)) {
        writeFileSync(join(folder, 'dist', file), content);
      }
    };
    const restore = () =>
      cpSync(join(ROOT, 'dist'), join(stages.folder, 'dist'), { recursive: true });
    const apply = () => stages.terraform('develop', 'apply', '-no-color', '-auto-approve');
    const readLive = async (of = FunctionName) =>
      (await lambda.getAlias({ FunctionName: of, Name: 'live' })).FunctionVersion;
    const readAll = () =>
      Promise.all(
        ['', '-mailer', '-mailer-replies'].map((suffix) => readLive(FunctionName + suffix)),
      );

    const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
    /** What users get until the promise is settled, by the status. */
    async function useMeanwhile<Result>(running: Promise<Result>) {
      const answers = new Map<number, number>();
      const ended = running.then(
        () => true,
        () => true,
      );
      while (!(await Promise.race([ended, sleep(300, false)]))) {
        for (const method of ['POST', 'GET']) {
          const body = method === 'POST' ? { body: '{"subject":"s","body":"b"}' } : {};
          const Payload = JSON.stringify(toEvent({ method, query: '', ...body }, claims));
          const found = await lambda.invoke({ FunctionName, Qualifier: 'live', Payload });
          const { statusCode = 0 } = JSON.parse(found.Payload?.transformToString() ?? '') as {
            statusCode?: number;
          };
          answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
        }
      }
      return { result: await running, answers };
    }

    it('plain terraform apply makes a package that works live, and one that does not never, while users notice nothing', async () => {
      const { code, output } = await stages.terraform(
        'default',
        'init',
        '-no-color',
        '-backend-config=backend.s3.tfbackend',
        ...providerSource(stages.env),
      );
      expect([code, code === 0 ? '' : output]).toEqual([0, '']);
      await stages.terraform('default', 'workspace', 'new', 'develop');
      const first = await apply();
      expect([first.code, first.code === 0 ? '' : first.output]).toEqual([0, '']);
      expect(await readAll()).toEqual(['1', '1', '1']);

      write(wrapFunction(CHANGED));
      const changed = await useMeanwhile(apply());
      expect([changed.result.code, await readAll()]).toEqual([0, ['2', '1', '1']]);
      expect([...changed.answers.keys()].toSorted((a, b) => a - b)).toEqual([200, 201]);

      for (const [what, files, says] of BROKEN) {
        restore();
        write(wrapFunction(CHANGED));
        write(files);
        const before = await readAll();
        const { result, answers } = await useMeanwhile(apply());
        process.stdout.write(`a package that ${what}: users got ${JSON.stringify([...answers])}\n`);
        // Terraform breaks lines.
        const said = result.output.replaceAll(/\s+/g, ' ');
        expect([what, result.code, said]).toEqual([what, 1, expect.stringContaining(says)]);
        // The function is not the mailer's: after one that is broken, this one is live.
        const isMailer = 'mailer.zip' in files;
        expect((await readAll()).slice(isMailer ? 1 : 0)).toEqual(before.slice(isMailer ? 1 : 0));
        expect([what, [...answers.keys()].toSorted((a, b) => a - b)]).toEqual([what, [200, 201]]);
      }
      restore();
      expect((await apply()).code).toBe(0);
      const again = await stages.terraform('develop', 'plan', '-no-color', '-detailed-exitcode');
      expect([again.code, again.code === 0 ? '' : again.output]).toEqual([0, '']);
    });

    it('two deployments in every order of their plans and applies: the last line of each is true', async () => {
      restore();
      const clones = { a: `${stages.folder}-a`, b: `${stages.folder}-b` };
      for (const folder of Object.values(clones)) {
        cpSync(stages.folder, folder, { recursive: true, verbatimSymlinks: true });
      }
      const run = async (clone: 'a' | 'b', step: number, order: string) => {
        const folder = clones[clone];
        if (step === 0) {
          // Each deploys a package of its own.
          write(wrapFunction(`${CHANGED} // ${clone} in ${order}`), folder);
          const planned = await stages.startIn(
            folder,
            'develop',
            '--plan-only',
            '--plan',
            `${folder}/plan`,
          ).ended;
          assert(planned.code === 0, planned.output);
          return undefined;
        }
        return stages.startIn(folder, 'develop', '--yes', '--plan', `${folder}/plan`).ended;
      };
      try {
        for (const order of ['aabb', 'abab', 'abba', 'baab', 'baba', 'bbaa']) {
          const steps = { a: 0, b: 0 };
          const ends: [clone: string, code: number | null, isStale: boolean][] = [];
          for (const clone of order as Iterable<'a' | 'b'>) {
            const outcome = await run(clone, steps[clone]++, order);
            if (outcome === undefined) continue;
            const { code, output } = outcome;
            ends.push([clone, code, output.includes('Saved plan is stale')]);
            const live = await readLive();
            const [last = ''] = output.trim().split('\n').slice(-1);
            process.stdout.write(`${order}, ${clone}: exit code ${code}, ${last}\n`);
            const says =
              code === 0 ? 'Deployed: https://' : `Version ${live} of ${FunctionName} is live.`;
            expect(code === 0 ? output : last).toContain(says);
          }
          const isOneAfterTheOther = order === 'aabb' || order === 'bbaa';
          const [first, second] = [order[isOneAfterTheOther ? 0 : 2], order.at(-1)];
          expect([order, ends]).toEqual([
            order,
            [
              [first, 0, false],
              [second, isOneAfterTheOther ? 0 : 1, !isOneAfterTheOther],
            ],
          ]);
        }

        // b ends while a is tested.
        const hold = Promise.withResolvers<void>();
        held = hold;
        reached = Promise.withResolvers();
        await run('a', 0, 'overtaken');
        const overtaken = run('a', 1, 'overtaken');
        await reached.promise;
        await run('b', 0, 'overtaking');
        expect(await run('b', 1, 'overtaking')).toMatchObject({ code: 0 });
        const live = await readLive();
        hold.resolve();
        const { code, output = '' } = (await overtaken) ?? {};
        expect([code, await readLive()]).toEqual([1, live]);
        expect(output).toContain(
          `Another command has made version ${live} of ${FunctionName} live since this one made`,
        );
        expect(output.trim().split('\n').at(-1)).toContain(
          `Version ${live} of ${FunctionName} is live.`,
        );
      } finally {
        for (const folder of Object.values(clones)) {
          rmSync(folder, { recursive: true, force: true });
        }
      }
    });
  },
);
