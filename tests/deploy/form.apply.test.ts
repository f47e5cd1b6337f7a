/**
 * `npm run deploy` with a real Terraform and few settings, where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts), the uploaded form in Chromium, as far as a sign-in, and `npm run rollback`. The objects
 * in the bucket stand for CloudFront; the test itself answers for the user pool's pages and the API.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { CognitoIdentityProvider } from '@aws-sdk/client-cognito-identity-provider';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { parseOutputs } from '../../deploy/outputs.ts';
import { ROOT } from '../../lib/paths.ts';
import type { Stage } from '../../lib/stages.ts';
import { createKey } from '../../lib/issuer-keys.ts';
import { signToken } from '../../lib/issuer-tokens.ts';
import { parseConfig } from '../../web/src/config.ts';
import { launchBrowser, on, whyNoBrowser } from '../helpers/chromium.ts';
import { announce, createStages, endpoint, STAGE_LEFT_OUT } from '../helpers/emulator-stages.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

/** What the emulator does not serve, and what stands in its place. */
const LEFT_OUT = [
  ...STAGE_LEFT_OUT,
  'moto serves no distribution: the test answers with the objects of the bucket and the headers of the policy',
  'moto has no sign-in pages: the test answers for the issuer and the token endpoint, with a token of its own key',
  'moto runs no API: the test answers with an empty list',
];

announce('the deployed form', LEFT_OUT, PROXY_GAPS);

const EMAIL = 'ana@example.com';
const DIST = join(ROOT, 'web/dist');
/** Settings of the form of one stage. */
const FORM = {
  name: 'Example',
  logo: 'favicon.svg',
  expectation: { en: 'We answer within two working days.', ja: '2営業日以内に回答します。' },
  languages: ['ja', 'en'],
};

interface FormOutputs {
  readonly site: {
    readonly bucket: string;
    readonly distribution_id: string;
    readonly url: string;
  };
  readonly form_config: {
    readonly issuer: string;
    readonly clientId: string;
    readonly apiUrl: string;
  };
}

type Stages = Awaited<ReturnType<typeof createStages>>;

/** The outputs in the stage's state. */
async function readOutputs({ s3, bucket }: Stages, stage: Stage): Promise<FormOutputs> {
  const Key = `env:/${stage}/inquiries/terraform.tfstate`;
  const { Body } = await s3.getObject({ Bucket: bucket, Key });
  const { outputs } = JSON.parse((await Body?.transformToString()) ?? '') as {
    outputs: Record<string, { value: unknown }>;
  };
  return parseOutputs(outputs) as unknown as FormOutputs;
}

/** The form of a stage that has one, as the emulator has it. */
async function openForm(stages: Stages, stage: Stage) {
  const { site, form_config: config } = await readOutputs(stages, stage);
  const pool = config.issuer.split('/').at(-1);
  const cognito = new CognitoIdentityProvider(stages.client);
  const [{ UserPool }, { UserPoolClient }] = await Promise.all([
    cognito.describeUserPool({ UserPoolId: pool }),
    cognito.describeUserPoolClient({ UserPoolId: pool, ClientId: config.clientId }),
  ]);
  cognito.destroy();
  const read = async (key: string) => {
    const object = await stages.s3.getObject({ Bucket: site.bucket, Key: key });
    const body = Buffer.from((await object.Body?.transformToByteArray()) ?? []);
    return { body, type: object.ContentType ?? '', cache: object.CacheControl ?? '' };
  };
  const { Contents = [] } = await stages.s3.listObjectsV2({ Bucket: site.bucket });
  const keys = Contents.map(({ Key = '' }) => Key);
  return {
    site,
    config,
    client: UserPoolClient,
    isProtected: UserPool?.DeletionProtection === 'ACTIVE',
    signInOrigin: `https://${UserPool?.Domain}.auth.${stages.client.region}.amazoncognito.com`,
    objects: new Map(await Promise.all(keys.map(async (key) => [key, await read(key)] as const))),
  };
}
type Form = Awaited<ReturnType<typeof openForm>>;

/** The page's own policy. */
function readPolicy({ objects }: Form): string {
  const page = objects.get('index.html')?.body.toString() ?? '';
  return /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(page)?.[1] ?? '';
}

/** What the form's distribution serves at `/`, and the headers that it adds. */
async function readDistribution({ site }: Form, { client }: Stages) {
  const cloudFront = new CloudFront(client);
  const { Distribution } = await cloudFront.getDistribution({ Id: site.distribution_id });
  const Id = Distribution?.DistributionConfig?.DefaultCacheBehavior?.ResponseHeadersPolicyId;
  const { ResponseHeadersPolicy } = await cloudFront.getResponseHeadersPolicy({ Id });
  cloudFront.destroy();
  const security = ResponseHeadersPolicy?.ResponseHeadersPolicyConfig?.SecurityHeadersConfig;
  const seconds = security?.StrictTransportSecurity?.AccessControlMaxAgeSec;
  const headers: Record<string, string> = {
    'content-security-policy': security?.ContentSecurityPolicy?.ContentSecurityPolicy ?? '',
    'referrer-policy': security?.ReferrerPolicy?.ReferrerPolicy ?? '',
    ...(seconds !== undefined && { 'strict-transport-security': `max-age=${seconds}` }),
    ...(security?.ContentTypeOptions !== undefined && { 'x-content-type-options': 'nosniff' }),
  };
  const origins =
    ResponseHeadersPolicy?.ResponseHeadersPolicyConfig?.CorsConfig?.AccessControlAllowOrigins;
  // CloudFront sends it to requests with an Origin.
  headers['access-control-allow-origin'] = origins?.Items?.join() ?? '';
  return { headers, root: Distribution?.DistributionConfig?.DefaultRootObject ?? '' };
}

type Answer = Parameters<Route['fulfill']>[0];

/** Answers the requests of a page in place of CloudFront, the user pool and the API. */
async function play(page: Page, form: Form, stages: Stages) {
  const { site, config, objects, signInOrigin } = form;
  const [{ headers, root }, key] = await Promise.all([readDistribution(form, stages), createKey()]);
  const seen = {
    /** Requests that the form should not make, and what the browser says of the page. */
    complaints: [] as string[],
    /** The parameters of the sign-in page. */
    authorization: new URLSearchParams(),
    /** The Authorization headers that the API got, and the token that it should get. */
    bearers: [] as (string | undefined)[],
    idToken: '',
  };
  const anyOrigin = { 'access-control-allow-origin': '*' };

  const answers: Record<string, (request: Request, url: URL) => Answer | Promise<Answer>> = {
    [`GET ${config.issuer}/.well-known/openid-configuration`]: () => ({
      headers: anyOrigin,
      json: {
        authorization_endpoint: `${signInOrigin}/oauth2/authorize`,
        end_session_endpoint: `${signInOrigin}/logout`,
        id_token_signing_alg_values_supported: ['RS256'],
        issuer: config.issuer,
        jwks_uri: `${config.issuer}/.well-known/jwks.json`,
        response_types_supported: ['code', 'token'],
        subject_types_supported: ['public'],
        token_endpoint: `${signInOrigin}/oauth2/token`,
      },
    }),
    [`GET ${signInOrigin}/oauth2/authorize`]: (_request, { searchParams }) => {
      seen.authorization = searchParams;
      return { contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' };
    },
    [`POST ${signInOrigin}/oauth2/token`]: async () => {
      const claims = { aud: config.clientId, nonce: seen.authorization.get('nonce') };
      seen.idToken = await signToken(key, config.issuer, { email: EMAIL, claims });
      const json = {
        id_token: seen.idToken,
        access_token: 'a',
        refresh_token: 'r',
        token_type: 'Bearer',
        expires_in: 3600,
      };
      return { headers: anyOrigin, json };
    },
    [`GET ${config.apiUrl}/inquiries`]: (request) => {
      seen.bearers.push(request.headers()['authorization']);
      return {
        headers: { 'access-control-allow-origin': new URL(site.url).origin },
        json: { inquiries: [] },
      };
    },
  };
  await page.route('**/*', async (route, request) => {
    const url = new URL(request.url());
    const answer = answers[`${request.method()} ${url.origin}${url.pathname}`];
    if (answer !== undefined) return route.fulfill(await answer(request, url));
    const object = objects.get(url.pathname.slice(1) || root);
    if (request.method() === 'GET' && `${url.origin}/` === site.url) {
      // Without the permission to list, S3 does not say whether an object is missing.
      if (object === undefined) return route.fulfill({ status: 403 });
      const { body, type, cache } = object;
      return route.fulfill({
        headers: { ...headers, 'content-type': type, 'cache-control': cache },
        body,
      });
    }
    seen.complaints.push(`unexpected: ${request.method()} ${request.url()}`);
    return route.abort();
  });
  page.on('pageerror', (error) => void seen.complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') seen.complaints.push(message.text());
  });
  return { seen, headers };
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
        main: { form: FORM },
        release: {},
      });
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
        const form = await openForm(stages, stage);
        const { site, config, objects, signInOrigin } = form;
        const { issuer: _issuer, clientId: _clientId, apiUrl: _apiUrl, ...settings } = config;
        expect(settings).toEqual(stage === 'main' ? FORM : {});
        expect(form.isProtected).toBe(stage !== 'develop');
        expect(site.url).toMatch(/^https:\/\/[a-z0-9]+\.cloudfront\.net\/$/);
        expect(output).toContain(`\nDeployed: ${site.url}\nAPI ${config.apiUrl}/inquiries\n`);

        const files = globSync('**/*.*', { cwd: DIST });
        const served = [...objects.keys()].filter((key) => !key.startsWith('versions/'));
        expect(served.toSorted()).toEqual([...files, 'config.json'].toSorted());
        const assets = files.filter((key) => key !== 'index.html');
        for (const key of assets) {
          expect([key, objects.get(key)?.body]).toEqual([key, readFileSync(join(DIST, key))]);
        }
        const stored: unknown = JSON.parse(objects.get('config.json')?.body.toString() ?? 'null');
        expect(stored).toEqual(config);
        expect(parseConfig(stored)).toMatchObject(config);
        expect(/connect-src ([^;]*)/.exec(readPolicy(form))?.[1]?.split(' ')).toEqual([
          "'self'",
          new URL(config.issuer).origin,
          signInOrigin,
          config.apiUrl,
        ]);

        const again = await stages.start(stage, '--drift').ended;
        expect(again.output).toContain(
          '  plan      0 to create, 0 to change, 0 to replace, 0 to destroy\n',
        );
        // No distribution serves it.
        expect([again.code, again.output]).toEqual([
          1,
          expect.stringContaining('form      index.html cannot be loaded: '),
        ]);
      },
    );

    it.skipIf(whyNoBrowser !== undefined)(
      'the uploaded form loads in a page of another origin, signs in at the user pool, shows the inquiries, and connects to nothing else (skipped without Chromium)',
      async () => {
        expect(await deploy('develop')).toMatchObject({ code: 0 });
        const form = await openForm(stages, 'develop');
        const { site, config, client, signInOrigin } = form;
        const browser = await launchBrowser();
        onTestFinished(() => browser.close());
        const page = await browser.newPage();
        const { seen, headers } = await play(page, form, stages);
        onTestFailed(() => void process.stdout.write(`${seen.complaints.join('\n')}\n`));

        // A page of another origin loads the form's element, with the texts of a language.
        const element = `<inquiry-form api-url="${config.apiUrl}" language="en"></inquiry-form>`;
        const body = `<!doctype html><script type="module" src="${site.url}inquiry-form.js"></script>${element}`;
        const other = 'https://shop.example.com/';
        await page.route(other, (route) => route.fulfill({ contentType: 'text/html', body }));
        await page.goto(other);
        await page.getByText('Please sign in').first().waitFor();

        await page.goto(site.url);
        await on(page).button('Sign in').click();
        await page.waitForURL(`${signInOrigin}/oauth2/authorize?**`);
        expect(Object.fromEntries(seen.authorization)).toEqual({
          response_type: 'code',
          client_id: client?.ClientId,
          redirect_uri: site.url,
          scope: 'openid email',
          code_challenge: expect.stringMatching(/^[\w-]{43}$/),
          code_challenge_method: 'S256',
          state: expect.stringMatching(/./),
          nonce: expect.stringMatching(/./),
        });
        expect(client).toMatchObject({
          CallbackURLs: [site.url],
          AllowedOAuthFlows: ['code'],
          AllowedOAuthScopes: expect.arrayContaining(['openid', 'email']),
        });

        await page.goto(`${site.url}?code=code-1&state=${seen.authorization.get('state')}`);
        await page.getByText(EMAIL, { exact: true }).waitFor();
        await on(page).subject.waitFor();
        expect(seen.bearers).toEqual([`Bearer ${seen.idToken}`]);
        expect(page.url()).toBe(site.url);
        expect(seen.complaints).toEqual([]);

        // Each of the two policies blocks it: that of the page, and that of CloudFront.
        const connections = [readPolicy(form), headers['content-security-policy'] ?? ''].map(
          (policy) => /connect-src [^;]*/.exec(policy)?.[0],
        );
        expect(
          await page.evaluate(`fetch('https://elsewhere.example.com/').catch(({ name }) => name)`),
        ).toBe('TypeError');
        await expect
          .poll(() => seen.complaints.length, { timeout: 15_000 })
          .toBeGreaterThanOrEqual(2);
        for (const connection of connections) {
          expect(seen.complaints).toContainEqual(expect.stringContaining(`"${connection}"`));
        }
        expect(seen.complaints.filter((complaint) => complaint.startsWith('unexpected'))).toEqual(
          [],
        );
      },
    );

    it('npm run rollback switches to the version before, and the next deployment to the newest one', async () => {
      expect(await deploy('release')).toMatchObject({ code: 0 });
      const FunctionName = `form-${run}-release`;
      const lambda = new Lambda(stages.client);
      onTestFinished(() => lambda.destroy());
      const readLive = async () =>
        Number((await lambda.getAlias({ FunctionName, Name: 'live' })).FunctionVersion);
      const rollBack = () => stages.rollback('release', '--yes');
      const readForm = async () =>
        (await openForm(stages, 'release')).objects.get('config.json')?.body.toString();
      const first = await readLive();
      const form = await readForm();
      expect(await rollBack()).toMatchObject({ code: 2 });

      writeFileSync(
        join(stages.folder, 'infra/terraform/stages.auto.tfvars.json'),
        JSON.stringify({ stages: { develop: {}, release: { inquiries_per_hour: 5, form: FORM } } }),
      );
      expect(await stages.start('release', '--yes').ended).toMatchObject({ code: 0 });
      const second = await readLive();
      expect(second).toBeGreaterThan(first);
      expect(await readForm()).not.toBe(form);
      const { code, output } = await rollBack();
      expect([code, output]).toEqual([
        0,
        expect.stringContaining(`Switched: version ${first} is live.`),
      ]);
      expect([await readLive(), await readForm()]).toEqual([first, form]);

      const drift = await stages.start('release', '--drift').ended;
      expect([drift.code, drift.output]).toEqual([
        1,
        expect.stringContaining('            change   aws_lambda_alias.live\n'),
      ]);
      expect(await stages.start('release', '--yes').ended).toMatchObject({ code: 0 });
      expect(await readLive()).toBeGreaterThanOrEqual(second);
    });

    it('names the holder of the lock, and makes no second table in the place of one that was deleted', async () => {
      expect(await deploy('develop')).toMatchObject({ code: 0 });
      const lock = {
        Bucket: stages.bucket,
        Key: 'env:/develop/inquiries/terraform.tfstate.tflock',
      };
      const Body = JSON.stringify({
        ID: 'id-1',
        Who: 'ana@host',
        Operation: 'OperationTypeApply',
        Created: '2026-11-22T10:00:00Z',
      });
      await stages.s3.putObject({ ...lock, Body });
      const locked = await stages.start('develop', '--yes').ended;
      expect([locked.code, locked.output]).toEqual([
        1,
        expect.stringMatching(
          /The state is locked by ana@host since 2026-11-22 .*-chdir=infra\/terraform force-unlock id-1\n/,
        ),
      ]);
      await stages.s3.deleteObject(lock);

      const dynamodb = new DynamoDB(stages.client);
      await dynamodb.deleteTable({ TableName: `form-${run}-develop` });
      dynamodb.destroy();
      const { code, output } = await stages.start('develop', '--yes').ended;
      const message = `The state has the table with its inquiries, arn:aws:dynamodb:eu-central-1:123456789012:table/form-${run}-develop, but it is not in account`;
      expect([code, output]).toEqual([2, expect.stringContaining(message)]);
      expect(output).not.toContain('terraform apply …');
    });
  },
);
