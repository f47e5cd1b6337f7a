/**
 * `npm run deploy` with a real Terraform and few settings, and `npm run rollback`, where AWS_ENDPOINT_URL names an emulator of
 * AWS (tests/infra/stages.apply.test.ts). The form in a browser: tests/form, in the local stack.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CognitoIdentityProviderClient,
  DescribeUserPoolCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { GetAliasCommand, GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseOutputs } from '../../deploy/outputs.ts';
import { ROOT } from '../../lib/paths.ts';
import type { Stage } from '../../lib/stages.ts';
import { parseConfig } from '../../web/src/config.ts';
import { createStages, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
if (endpoint === '') {
  process.stdout.write('\nSKIPPED: the deployed form, because AWS_ENDPOINT_URL names no emulator of AWS.\n');
}

const DIST = join(ROOT, 'web/dist');
/** Settings of the form of one stage. */
const FORM = {
  name: 'Example',
  logo: 'favicon.svg',
  expectation: { en: 'We answer within two working days.', ja: '2営業日以内に回答します。' },
  languages: ['ja', 'en'],
};

interface FormOutputs {
  readonly site: { readonly bucket: string; readonly distribution_id: string; readonly url: string };
  readonly form_config: { readonly issuer: string; readonly clientId: string; readonly apiUrl: string };
}

type Stages = Awaited<ReturnType<typeof createStages>>;

/** The form of a stage that has one, as the emulator has it. */
async function openForm({ bucket, client, s3 }: Stages, stage: Stage) {
  const read = async (Bucket: string, Key: string) => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };
  const state = await read(bucket, `env:/${stage}/inquiries/terraform.tfstate`);
  const { outputs } = JSON.parse(state.toString()) as { outputs: Record<string, { value: unknown }> };
  const { site, form_config: config } = parseOutputs(outputs) as unknown as FormOutputs;
  const pool = config.issuer.split('/').at(-1);
  const cognito = new CognitoIdentityProviderClient(client);
  const { UserPool } = await cognito.send(new DescribeUserPoolCommand({ UserPoolId: pool }));
  cognito.destroy();
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: site.bucket }));
  const keys = Contents.map(({ Key = '' }) => Key);
  return {
    site,
    config,
    isProtected: UserPool?.DeletionProtection === 'ACTIVE',
    signInOrigin: `https://${UserPool?.Domain}.auth.${client.region}.amazoncognito.com`,
    objects: new Map(
      await Promise.all(keys.map(async (key) => [key, await read(site.bucket, key)] as const)),
    ),
  };
}

describe.skipIf(endpoint === '')(
  'npm run deploy, with no settings but those of a form (skipped without AWS_ENDPOINT_URL)',
  { timeout: 900_000 },
  () => {
    const run = crypto.randomUUID().slice(0, 8);
    let emulator: Awaited<ReturnType<typeof startEmulatorProxy>>;
    let stages: Stages;
    beforeAll(async () => {
      emulator = await startEmulatorProxy(endpoint);
      stages = await createStages(`form-${run}`, emulator.url, {
        develop: {},
        main: { form: FORM },
        release: {},
      });
      process.stdout.write(`\nADDED to the emulator:\n  ${PROXY_GAPS.join('\n  ')}\n`);
      process.stdout.write(`\nLEFT OUT:\n  ${STAGE_LEFT_OUT.join('\n  ')}\n`);
    });
    afterAll(async () => {
      stages.remove();
      await emulator.stop();
    });

    const deployments = new Map<Stage, ReturnType<Stages['start']>['ended']>();
    /** Deploys a stage the first time. */
    async function deploy(stage: Stage) {
      const deployment = deployments.get(stage) ?? stages.start(stage, '--yes').ended;
      deployments.set(stage, deployment);
      return deployment;
    }

    it.each(['develop', 'main', 'release'] as const)(
      '%s: the form is in the bucket with its settings, and a second plan is empty',
      async (stage) => {
        const { code, output } = await deploy(stage);
        expect([code, output]).toEqual([0, expect.stringContaining('\nDeployed: https://')]);
        const { site, config, objects, isProtected, signInOrigin } = await openForm(stages, stage);
        const { issuer: _issuer, clientId: _clientId, apiUrl: _apiUrl, ...settings } = config;
        expect(settings).toEqual(stage === 'main' ? FORM : {});
        expect(isProtected).toBe(stage !== 'develop');
        expect(site.url).toMatch(/^https:\/\/[a-z0-9]+\.cloudfront\.net\/$/);
        expect(output).toContain(`\nDeployed: ${site.url}\nAPI ${config.apiUrl}/inquiries\n`);

        const files = globSync('**/*.*', { cwd: DIST });
        const served = [...objects.keys()].filter((key) => !key.startsWith('versions/'));
        expect(served.toSorted()).toEqual([...files, 'config.json'].toSorted());
        const assets = files.filter((key) => key !== 'index.html');
        for (const key of assets)
          expect([key, objects.get(key)]).toEqual([key, readFileSync(join(DIST, key))]);
        const stored: unknown = JSON.parse(objects.get('config.json')?.toString() ?? 'null');
        expect(stored).toEqual(config);
        expect(parseConfig(stored)).toMatchObject(config);
        expect(objects.get('index.html')?.toString()).toContain(
          `connect-src 'self' ${new URL(config.issuer).origin} ${signInOrigin} ${config.apiUrl};`,
        );

        const lambda = new LambdaClient(stages.client);
        const FunctionName = `form-${run}-${stage}`;
        const { LoggingConfig } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
        lambda.destroy();
        // moto as released drops LoggingConfig, which every plan then sets again, also with the alias (stages.apply.test.ts).
        const forgets = LoggingConfig?.LogFormat === undefined;
        const again = await stages.start(stage, '--drift').ended;
        const plan = `  plan      0 to create, ${forgets ? '[12]' : '0'} to change, 0 to replace, 0 to destroy\n`;
        expect(again.output).toMatch(new RegExp(plan));
        expect(again.code).toBe(forgets ? 1 : 0);
      },
    );

    it('npm run rollback switches to the version before, and the next deployment to the newest one', async () => {
      expect(await deploy('release')).toMatchObject({ code: 0 });
      const FunctionName = `form-${run}-release`;
      const lambda = new LambdaClient(stages.client);
      onTestFinished(() => lambda.destroy());
      const readLive = async () =>
        Number((await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }))).FunctionVersion);
      const rollBack = () => stages.rollback('release', '--yes');
      const readForm = async () => (await openForm(stages, 'release')).objects.get('config.json')?.toString();
      const first = await readLive();
      const form = await readForm();
      expect(await rollBack()).toMatchObject({ code: 2 });

      writeFileSync(
        join(stages.folder, 'infra/terraform/stages.auto.tfvars.json'),
        JSON.stringify({ stages: { release: { inquiries_per_hour: 5, form: FORM } } }),
      );
      expect(await stages.start('release', '--yes').ended).toMatchObject({ code: 0 });
      const second = await readLive();
      expect(second).toBeGreaterThan(first);
      expect(await readForm()).not.toBe(form);
      const { code, output } = await rollBack();
      expect([code, output]).toEqual([0, expect.stringContaining(`Switched: version ${first} is live.`)]);
      expect([await readLive(), await readForm()]).toEqual([first, form]);

      const drift = await stages.start('release', '--drift').ended;
      const message = `  live      version ${first}, not ${second}: it was rolled back`;
      expect([drift.code, drift.output]).toEqual([1, expect.stringContaining(message)]);
      expect(await stages.start('release', '--yes').ended).toMatchObject({ code: 0 });
      expect(await readLive()).toBeGreaterThanOrEqual(second);
    });

    it('names the holder of the lock, and makes no second table in the place of one that was deleted', async () => {
      expect(await deploy('develop')).toMatchObject({ code: 0 });
      const lock = { Bucket: stages.bucket, Key: 'env:/develop/inquiries/terraform.tfstate.tflock' };
      const Body = JSON.stringify({
        ID: 'id-1',
        Who: 'ana@host',
        Operation: 'OperationTypeApply',
        Created: '2026-11-22T10:00:00Z',
      });
      await stages.s3.send(new PutObjectCommand({ ...lock, Body }));
      const locked = await stages.start('develop', '--yes').ended;
      expect([locked.code, locked.output]).toEqual([
        1,
        expect.stringMatching(
          /The state is locked by ana@host since 2026-11-22 .*-chdir=infra\/terraform force-unlock id-1\n/,
        ),
      ]);
      await stages.s3.send(new DeleteObjectCommand(lock));

      const dynamodb = new DynamoDBClient(stages.client);
      await dynamodb.send(new DeleteTableCommand({ TableName: `form-${run}-develop` }));
      dynamodb.destroy();
      const { code, output } = await stages.start('develop', '--yes').ended;
      const message = `The state has the table with its inquiries, arn:aws:dynamodb:eu-central-1:123456789012:table/form-${run}-develop, but it is not in account`;
      expect([code, output]).toEqual([2, expect.stringContaining(message)]);
      expect(output).not.toContain('terraform apply …');
    });
  },
);
