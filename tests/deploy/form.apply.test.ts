/**
 * `npm run deploy` with a real Terraform and few settings, where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts), the uploaded form in Chromium, as far as the sign-in page, and `npm run rollback`. The
 * objects in the bucket stand for CloudFront; the test itself answers for the user pool's pages and the API.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { CognitoIdentityProvider } from '@aws-sdk/client-cognito-identity-provider';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { StageOutputs } from '../../deploy/outputs.ts';
import { parseOutputs, type OutputValues } from '../../deploy/plan.ts';
import { ROOT } from '../../lib/paths.ts';
import type { Stage } from '../../lib/stages.ts';
import { launchBrowser, on, whyNoBrowser } from '../helpers/chromium.ts';
import { announce, createStages, endpoint, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

/** What the emulator does not serve, and what stands in its place. */
const LEFT_OUT = [
  ...STAGE_LEFT_OUT,
  'moto serves no distribution: the test answers with the objects of the bucket and the headers of the policy',
  'moto has no sign-in pages: the test answers for the issuer',
  'moto runs no API: the test answers with an empty list',
];

announce('the deployed form', LEFT_OUT, PROXY_GAPS);

const POLICY = 'content-security-policy';
const DIST = join(ROOT, 'web/dist');
/** Settings of the form of one stage. */
const FORM = {
  name: 'Example',
  logo: 'favicon.svg',
  expectation: { en: 'We answer within two working days.', ja: '2営業日以内に回答します。' },
  languages: ['ja', 'en'],
};

type Stages = Awaited<ReturnType<typeof createStages>>;
type Form = Awaited<ReturnType<typeof openForm>>;

/** The form of a stage, as the emulator has it. */
async function openForm({ s3, bucket, client }: Stages, stage: Stage) {
  const read = async (Bucket: string, Key: string) => {
    const { Body, ContentType = '', CacheControl = '' } = await s3.getObject({ Bucket, Key });
    const headers = { 'content-type': ContentType, 'cache-control': CacheControl };
    return { body: (await Body?.transformToString()) ?? '', headers };
  };
  const { body } = await read(bucket, `env:/${stage}/inquiries/terraform.tfstate`);
  const { site, form_config: config } = parseOutputs(
    (JSON.parse(body) as { outputs: OutputValues }).outputs,
  ) as StageOutputs;
  if (!site || !config) throw new Error(`${stage} has no form`);
  const UserPoolId = config.issuer.split('/').at(-1);
  const cognito = new CognitoIdentityProvider(client);
  const { UserPool } = await cognito.describeUserPool({ UserPoolId });
  const { UserPoolClient } = await cognito.describeUserPoolClient({
    UserPoolId,
    ClientId: config.clientId,
  });
  cognito.destroy();
  const { Contents = [] } = await s3.listObjectsV2({ Bucket: site.bucket });
  const keys = Contents.map(({ Key = '' }) => Key);
  const objects = new Map(
    await Promise.all(keys.map(async (key) => [key, await read(site.bucket, key)] as const)),
  );
  return {
    site,
    config,
    client: UserPoolClient,
    isProtected: UserPool?.DeletionProtection === 'ACTIVE',
    signInOrigin: `https://${UserPool?.Domain}.auth.${client.region}.amazoncognito.com`,
    objects,
    /** What the page may connect to. */
    connections: readConnections(objects.get('index.html')?.body),
  };
}

const readConnections = (policy: string | undefined): string =>
  /connect-src [^;"]*/.exec(policy ?? '')?.[0] ?? '';

/** The headers that the form's distribution adds. */
async function readHeaders({ site }: Form, { client }: Stages): Promise<Record<string, string>> {
  const cloudFront = new CloudFront(client);
  const { Distribution } = await cloudFront.getDistribution({ Id: site.distribution_id });
  const Id = Distribution?.DistributionConfig?.DefaultCacheBehavior?.ResponseHeadersPolicyId;
  const { ResponseHeadersPolicy } = await cloudFront.getResponseHeadersPolicy({ Id });
  cloudFront.destroy();
  const { SecurityHeadersConfig: security, CorsConfig: cors } =
    ResponseHeadersPolicy?.ResponseHeadersPolicyConfig ?? {};
  return {
    [POLICY]: security?.ContentSecurityPolicy?.ContentSecurityPolicy ?? '',
    'x-content-type-options': security?.ContentTypeOptions ? 'nosniff' : '',
    'access-control-allow-origin': cors?.AccessControlAllowOrigins?.Items?.join() ?? '',
  };
}

/** Answers the requests of a page in place of CloudFront, the user pool and the API. @returns What the browser complains of. */
async function play(page: Page, form: Form, headers: Record<string, string>): Promise<string[]> {
  const { site, config, objects, signInOrigin } = form;
  const complaints: string[] = [];
  const fromAnywhere = { 'access-control-allow-origin': '*' };
  await page.route('**/*', (route, request) => {
    const { origin, pathname } = new URL(request.url());
    if (`${origin}/` === site.url) {
      const object = objects.get(pathname.slice(1) || 'index.html');
      // Without the permission to list, S3 does not say whether an object is missing.
      if (object === undefined) return route.fulfill({ status: 403 });
      return route.fulfill({ headers: { ...headers, ...object.headers }, body: object.body });
    }
    if (request.url() === `${config.issuer}/.well-known/openid-configuration`) {
      const authorization_endpoint = `${signInOrigin}/oauth2/authorize`;
      const json = { issuer: config.issuer, authorization_endpoint };
      return route.fulfill({ headers: fromAnywhere, json });
    }
    if (origin === signInOrigin) return route.fulfill({ body: 'Sign in' });
    if (origin === config.apiUrl) return route.fulfill({ headers: fromAnywhere, json: {} });
    complaints.push(`unexpected: ${request.method()} ${request.url()}`);
    return route.abort();
  });
  page.on('pageerror', (error) => void complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

describe.skipIf(endpoint === '')(
  'npm run deploy, with no settings but those of a form (skipped without AWS_ENDPOINT_URL)',
  { timeout: 1_800_000 },
  () => {
    const run = crypto.randomUUID().slice(0, 8);
    let emulator: Awaited<ReturnType<typeof startEmulatorProxy>>;
    let stages: Stages;
    beforeAll(async () => {
      emulator = await startEmulatorProxy(endpoint);
      stages = await createStages(`form-${run}`, emulator.url, {
        develop: {},
        release: { form: FORM },
      });
    });
    afterAll(async () => {
      stages.remove();
      await emulator.stop();
    });
    const deploy = (stage: Stage, ...args: string[]) => stages.start(stage, ...args).ended;

    it.each([
      ['develop', {}],
      ['release', FORM],
    ] as const)(
      '%s: the form is in the bucket with its settings, and a second plan is empty',
      async (stage, settings) => {
        const { code, output } = await deploy(stage, '--yes');
        const { site, config, objects, signInOrigin, isProtected, connections } = await openForm(
          stages,
          stage,
        );
        const end = `\nDeployed: ${site.url}\nAPI ${config.apiUrl}/inquiries\n`;
        expect([code, output]).toEqual([0, expect.stringContaining(end)]);
        expect(isProtected).toBe(stage === 'release');
        const { issuer, clientId, apiUrl } = config;
        expect(config).toEqual({ issuer, clientId, apiUrl, ...settings });

        const served = Object.fromEntries([...objects].map(([key, { body }]) => [key, body]));
        for (const key of globSync('**/*.*', { cwd: DIST })) {
          if (key === 'index.html') continue;
          expect([key, served[key]]).toEqual([key, readFileSync(join(DIST, key), 'utf8')]);
        }
        expect(JSON.parse(served['config.json'] ?? '')).toEqual(config);
        expect(connections).toBe(
          `connect-src 'self' ${new URL(issuer).origin} ${signInOrigin} ${apiUrl}`,
        );

        const again = await deploy(stage, '--drift');
        // No distribution serves it.
        expect([again.code, again.output]).toEqual([
          1,
          expect.stringMatching(/\nNo changes\. [^]*form {6}index\.html cannot be loaded: /),
        ]);
      },
    );

    it.skipIf(whyNoBrowser !== undefined)(
      'the uploaded form loads in a page of another origin, signs in at the user pool, and connects to nothing else (skipped without Chromium)',
      async () => {
        const form = await openForm(stages, 'develop');
        const { site, config, client, signInOrigin } = form;
        const headers = await readHeaders(form, stages);
        const browser = await launchBrowser();
        onTestFinished(() => browser.close());
        const page = await browser.newPage();
        const complaints = await play(page, form, headers);

        // A page of another origin loads the form's element, with the texts of a language.
        const element = `<inquiry-form api-url="${config.apiUrl}" language="en"></inquiry-form>`;
        const body = `<!doctype html><script type="module" src="${site.url}inquiry-form.js"></script>${element}`;
        const other = 'https://shop.example.com/';
        await page.route(other, (route) => route.fulfill({ contentType: 'text/html', body }));
        await page.goto(other);
        await page.getByText('Please sign in').first().waitFor();

        await page.goto(site.url);
        // The policies allow the API and nothing else: that of the page, and that of CloudFront.
        const load = (url: string) =>
          page.evaluate(`fetch('${url}').then(({ status }) => status, ({ name }) => name)`);
        expect(await load(`${config.apiUrl}/inquiries`)).toBe(200);
        expect(complaints).toEqual([]);
        expect(await load('https://elsewhere.example.com/')).toBe('TypeError');
        for (const policy of [form.connections, readConnections(headers[POLICY])]) {
          await expect.poll(() => complaints.join('\n'), { timeout: 15_000 }).toContain(policy);
        }
        expect(complaints.join('\n')).not.toContain('unexpected');

        await on(page).button('Sign in').click();
        await page.waitForURL(`${signInOrigin}/oauth2/authorize?**`);
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
          response_type: 'code',
          client_id: client?.ClientId,
          redirect_uri: site.url,
          scope: 'openid email',
          code_challenge_method: 'S256',
        });
        expect(client).toMatchObject({
          CallbackURLs: [site.url],
          AllowedOAuthFlows: ['code'],
          AllowedOAuthScopes: expect.arrayContaining(['openid', 'email']),
        });
      },
    );

    it.skipIf(whyNoBrowser !== undefined)(
      'a form whose script throws is never served (skipped without Chromium)',
      async () => {
        const [name = ''] = globSync('assets/index-*.js', { cwd: DIST });
        const script = join(stages.folder, 'web/dist', name);
        const before = await openForm(stages, 'develop');
        writeFileSync(script, `throw new Error('broken form');`);
        const { code, output } = await deploy('develop', '--yes');
        writeFileSync(script, readFileSync(join(DIST, name)));
        expect([code, output]).toEqual([
          1,
          expect.stringContaining('the form does not run: broken form'),
        ]);
        expect(await openForm(stages, 'develop')).toEqual(before);
      },
    );

    it('npm run rollback switches to the version before, and the next deployment to the newest one', async () => {
      const lambda = new Lambda(stages.client);
      onTestFinished(() => lambda.destroy());
      const read = async () => {
        const FunctionName = `form-${run}-release`;
        const { FunctionVersion } = await lambda.getAlias({ FunctionName, Name: 'live' });
        const { objects } = await openForm(stages, 'release');
        return { version: Number(FunctionVersion), form: objects.get('config.json')?.body };
      };
      const rollBack = () => stages.rollback('release', '--yes');
      const first = await read();
      expect(await rollBack()).toMatchObject({ code: 2 });

      writeFileSync(
        join(stages.folder, 'infra/terraform/stages.auto.tfvars.json'),
        JSON.stringify({ stages: { develop: {}, release: { inquiries_per_hour: 5 } } }),
      );
      expect(await deploy('release', '--yes')).toMatchObject({ code: 0 });
      const second = await read();
      expect(second.version).toBeGreaterThan(first.version);
      expect(second.form).not.toBe(first.form);
      const { code, output } = await rollBack();
      expect([code, output]).toEqual([
        0,
        expect.stringContaining(`Switched: version ${first.version} is live.`),
      ]);
      expect(await read()).toEqual(first);

      const drift = await deploy('release', '--drift');
      expect([drift.code, drift.output]).toEqual([
        1,
        expect.stringContaining('# aws_lambda_alias.live will be updated in-place'),
      ]);
      expect(await deploy('release', '--yes')).toMatchObject({ code: 0 });
      expect((await read()).version).toBeGreaterThanOrEqual(second.version);
    });

    it('names the holder of the lock, and makes no second table in the place of one that was deleted', async () => {
      const Key = 'env:/develop/inquiries/terraform.tfstate.tflock';
      const lock = { Bucket: stages.bucket, Key };
      await stages.s3.putObject({ ...lock, Body: '{"ID":"id-1","Who":"ana@host"}' });
      const locked = await deploy('develop', '--yes');
      expect([locked.code, locked.output]).toEqual([
        1,
        expect.stringMatching(/ID: +id-1\n[^]* Who: +ana@host\n[^]*See docs\/runbook\.md/),
      ]);
      await stages.s3.deleteObject(lock);

      const TableName = `form-${run}-develop`;
      const dynamodb = new DynamoDB(stages.client);
      await dynamodb.deleteTable({ TableName });
      dynamodb.destroy();
      const { code, output } = await deploy('develop', '--yes');
      const message = `The state has aws_dynamodb_table.this, arn:aws:dynamodb:eu-central-1:123456789012:table/${TableName}, but it is not in account`;
      expect([code, output]).toEqual([2, expect.stringContaining(message)]);
      expect(output).not.toContain('terraform apply …');
    });
  },
);
