/**
 * What users get while packages are deployed, with a real Terraform where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts): plain `terraform apply` of packages that work and of broken ones, and two deployments
 * at the same time.
 */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { providerSource } from '../../deploy/terraform.ts';
import { toEvent } from '../../lib/contract-checks.ts';
import type { Stage } from '../../lib/stages.ts';
import { refuse } from '../helpers/emulator-functions.ts';
import {
  announceStages,
  clientOf,
  createStages,
  endpoint,
  OWN,
  wrapHandler,
  wrapPackage,
  type Stages,
  type Zip,
} from '../helpers/emulator-stages.ts';
import type { Answer } from '../helpers/emulator.ts';

announceStages('packages');

const inbox = { to: 'team@example.com', from: 'inquiries@example.com', identity: 'example.com' };
const WORKS = wrapHandler('');
const throwIf = (condition: string): string =>
  wrapHandler(`if (${condition}) throw new Error('broken');`);

type Package = readonly [what: string, code: string, error: string];
/** With what Terraform says of each. */
const FUNCTIONS: readonly Package[] = [
  ['throws at init', `throw new Error('broken at init');`, 'broken at init'],
  [
    'answers a POST with 500',
    wrapHandler('', `if (method === 'POST') found.statusCode = 500;`),
    'answered 500: ',
  ],
  [
    'lists nothing',
    wrapHandler('', `if (method === 'GET') found.body = '{"email":"e","count":0,"inquiries":[]}';`),
    '0 inquiries of the list are the new one',
  ],
  [
    'answers without headers',
    wrapHandler('', 'found.headers = {};'),
    'Access-Control-Allow-Origin is missing',
  ],
  [
    'lists bare ids',
    wrapHandler(
      '',
      `const list = JSON.parse(found.body);
      if (list.inquiries) {
        list.inquiries = list.inquiries.map(({ id }) => id);
        found.body = JSON.stringify(list);
      }`,
    ),
    'an inquiry is not a JSON object',
  ],
  [
    'leaks 2 MB an event',
    `const leaked = [];\n${wrapHandler('leaked.push(Buffer.alloc(2_000_000, 1));')}`,
    'of 128 MB: docs/runbook.md, "function-memory"',
  ],
  [
    'answers a POST with 200',
    wrapHandler('', `if (method === 'POST') found.statusCode = 200;`),
    'answered 200, not 201',
  ],
];
const MAILERS: readonly Package[] = [
  ['throws at init', `throw new Error('mailer broken at init');`, 'mailer broken at init'],
  ['sends nothing', wrapHandler('return { batchItemFailures: [] };'), 'it would send no mail: '],
  [
    'throws for records',
    throwIf('event.Records?.[0].dynamodb && !event.trial'),
    'failed a record of a test is handled',
  ],
  ['throws for SQS', throwIf('event.Records?.[0].body'), 'failed a bounce becomes a mail'],
  ['throws for the timer', throwIf('event.digest'), 'failed the timer is handled'],
];
const ROWS = FUNCTIONS.map((broken, at) => {
  const mailer = MAILERS[at] ?? (['works', WORKS, ''] as const);
  return [`a function that ${broken[0]}, a mailer that ${mailer[0]}`, broken, mailer] as const;
});

describe.skipIf(endpoint === '')('packages (skipped without AWS_ENDPOINT_URL)', () => {
  let stages: Stages;
  let lambda: Lambda;
  /** What AWS answers in place of the emulator. */
  let refuseRequest: (request: string) => Answer | undefined = () => undefined;
  /** Holds the next smoke test until it is settled. */
  let held: PromiseWithResolvers<void> | undefined;
  const reached = Promise.withResolvers<void>();
  beforeAll(async () => {
    const settings = { develop: { ...OWN, inbox }, main: OWN };
    stages = await createStages('pack', settings, async (request, moment) => {
      if (moment !== 'before') return undefined;
      if (request.includes('/smoke-test') && held !== undefined) {
        const { promise } = held;
        held = undefined;
        reached.resolve();
        await promise;
      }
      return refuseRequest(request);
    });
    const init = ['-no-color', '-backend-config=backend.s3.tfbackend'];
    await stages.terraform('default', 'init', ...init, ...providerSource(stages.env));
    lambda = new Lambda(stages.client);
    const ses = new SESv2(clientOf(endpoint));
    // It may be there from an earlier run.
    await ses.createEmailIdentity({ EmailIdentity: inbox.identity }).catch(() => undefined);
  });
  beforeEach(() => {
    refuseRequest = () => undefined;
    write('inquiries.zip', WORKS);
    write('mailer.zip', WORKS);
  });
  afterAll(async () => {
    lambda.destroy();
    await stages.remove();
  });

  const write = (zip: Zip, code: string, folder = stages.folder): void =>
    writeFileSync(join(folder, 'dist', zip), wrapPackage(zip, code));
  /** @returns The error; nothing after exit code 0. */
  const terraform = async (stage: Stage, ...args: string[]) => {
    const { code, output } = await stages.terraform(stage, ...args);
    if (code === 0) return '';
    const last = output.match(/^.*not made live.*$/gm)?.join(', ');
    process.stdout.write(`  terraform ${args[0]}: exit code ${code}, ${last}\n`);
    // Terraform breaks lines.
    return output.slice(output.indexOf('Error: ')).replaceAll(/\s+/g, ' ');
  };
  const apply = (stage: Stage = 'develop') =>
    terraform(stage, 'apply', '-no-color', '-auto-approve');
  const readLive = async (suffix = 'develop') => {
    const FunctionName = `${stages.name}-${suffix}`;
    return (await lambda.getAlias({ FunctionName, Name: 'live' })).FunctionVersion;
  };
  const readAll = () =>
    Promise.all(['develop', 'develop-mailer', 'develop-mailer-replies'].map(readLive));

  const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
  const requests = [{ method: 'POST', body: '{"subject":"s","body":"b"}' }, { method: 'GET' }];
  /** @returns How often users get each status, and the versions that answer them, until the promise is settled. */
  async function useMeanwhile(running: Promise<string>) {
    const answers: Record<number, number> = {};
    const versions = new Set<string | undefined>();
    const ended = running.then(() => true);
    while (!(await Promise.race([ended, sleep(300, false)]))) {
      for (const request of requests) {
        const found = await lambda.invoke({
          FunctionName: `${stages.name}-develop`,
          Qualifier: 'live',
          Payload: JSON.stringify(toEvent(request, claims)),
        });
        versions.add(found.ExecutedVersion);
        const { statusCode = 0 } = JSON.parse(found.Payload?.transformToString() ?? '') as {
          statusCode?: number;
        };
        answers[statusCode] = (answers[statusCode] ?? 0) + 1;
      }
    }
    return { answers, versions: [...versions] };
  }

  it('plain terraform apply makes a version live, and users notice nothing', async () => {
    expect(await apply()).toBe('');
    const [first, ...mailers] = await readAll();
    write('inquiries.zip', `${WORKS} // another`);
    const works = apply();
    const { answers, versions } = await useMeanwhile(works);
    expect(await works).toBe('');
    expect(Object.keys(answers)).toEqual(['200', '201']);
    const [second, ...same] = await readAll();
    expect([Number(second), same]).toEqual([Number(first) + 1, mailers]);
    expect([first, second]).toEqual(expect.arrayContaining(versions));
    expect(await terraform('develop', 'plan', '-no-color', '-detailed-exitcode')).toBe('');
  });

  it.each(ROWS)('no request of users meets %s', async (what, broken, mailer) => {
    expect(await apply()).toBe('');
    const before = await readAll();
    write('inquiries.zip', broken[1]);
    write('mailer.zip', mailer[1]);
    const running = apply();
    const { answers, versions } = await useMeanwhile(running);
    process.stdout.write(`${what}: users got ${JSON.stringify(answers)}\n`);
    const error = await running;
    for (const says of [broken[2], mailer[2]]) expect(error).toContain(says);
    expect(answers).toMatchObject({ 200: expect.any(Number), 201: expect.any(Number) });
    expect(versions).toEqual([before[0]]);
    expect(await readAll()).toEqual(before);
  });

  it('a role that DynamoDB refuses at first: terraform apply passes, or passes the next time', async () => {
    let isRefusing = (): boolean => true;
    const refusal = refuse(400, 'AccessDeniedException', 'is not authorized to perform');
    refuseRequest = (request) =>
      / DynamoDB_\w+\.(TransactWrite|PutItem|Query)/.test(request) && isRefusing()
        ? refusal
        : undefined;
    let first: number | undefined;
    isRefusing = () => performance.now() - (first ??= performance.now()) < 14_000;
    expect(await apply('main')).toBe('');
    expect([first !== undefined, await readLive('main')]).toEqual([true, '1']);

    write('inquiries.zip', `${WORKS} // a role that is refused for longer`);
    isRefusing = () => true;
    expect(await apply('main')).toContain('answered 500: ');
    expect(await readLive('main')).toBe('1');
    refuseRequest = () => undefined;
    expect(await apply('main')).toBe('');
    expect(await readLive('main')).toBe('2');
  });

  it('a version that is not published is not called deployed, and the next run publishes it', async () => {
    expect(await apply('main')).toBe('');
    const hashOf = async (Qualifier?: string) =>
      (await lambda.getFunctionConfiguration({ FunctionName: `${stages.name}-main`, Qualifier }))
        .CodeSha256;
    const before = await hashOf('live');
    write('inquiries.zip', `${WORKS} // not published at first`);
    let refused = 0;
    refuseRequest = (request) =>
      /^POST .*\/versions /.test(request) && refused++ === 0
        ? refuse(400, 'CodeStorageExceededException', 'Code storage limit exceeded.')
        : undefined;
    const deploy = () => stages.start('deploy', 'main --yes').ended;
    const failed = await deploy();
    expect(failed).toMatchObject({ code: 1, output: expect.not.stringContaining('Deployed: ') });
    expect(failed.output).toContain('Code storage limit exceeded.');
    expect(await hashOf('live')).toBe(before);
    expect(await hashOf()).not.toBe(before);
    expect(await deploy()).toMatchObject({
      code: 0,
      output: expect.stringContaining('Deployed: '),
    });
    expect([refused, await hashOf('live')]).toEqual([2, await hashOf()]);
  });

  describe('two deployments', () => {
    type Clone = 'a' | 'b';
    const CLONES = ['a', 'b'] as const;
    const folderOf = (clone: Clone) => `${stages.folder}-${clone}`;
    beforeAll(() => {
      for (const clone of CLONES) {
        cpSync(stages.folder, folderOf(clone), { recursive: true, verbatimSymlinks: true });
      }
    });
    afterAll(() => {
      for (const clone of CLONES) rmSync(folderOf(clone), { recursive: true, force: true });
    });
    /** Each deploys a package of its own. */
    const plan = async (clone: Clone, order: string) => {
      const folder = folderOf(clone);
      write('inquiries.zip', `${WORKS} // ${clone} in ${order}`, folder);
      write('mailer.zip', WORKS, folder);
      const { ended } = stages.start('deploy', `develop --plan-only --plan ${folder}/plan`, folder);
      expect(await ended).toMatchObject({ code: 0 });
    };
    /** @returns How it ends; its last line must be true. */
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

    it.each(['aabb', 'abab', 'abba', 'baab', 'baba', 'bbaa'])(
      'planned and applied in the order %s: the last line of each is true',
      async (order) => {
        const ends: string[] = [];
        for (const [step, clone] of (order.split('') as Clone[]).entries()) {
          if (order.indexOf(clone) === step) await plan(clone, order);
          else ends.push(await deploy(clone));
        }
        const isOneAfterTheOther = order[0] === order[1];
        expect(ends).toEqual(['0', isOneAfterTheOther ? '0' : '1 stale']);
      },
    );

    it('one that was overtaken moves nothing back', async () => {
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
    });
  });
});
