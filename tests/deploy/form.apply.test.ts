/**
 * `npm run deploy` with a real Terraform and few settings, where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts), the uploaded form in Chromium, as far as the sign-in page, and `npm run rollback`. The
 * objects in the bucket stand for CloudFront; the test itself answers for the user pool's pages and the API.
 */
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Lambda } from '@aws-sdk/client-lambda';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOutputs } from '../../deploy/stage.ts';
import { toEvent } from '../../lib/contract-checks.ts';
import { ROOT } from '../../lib/paths.ts';
import type { Stage } from '../../lib/stages.ts';
import { needsBrowser, on, openPage } from '../helpers/chromium.ts';
import {
  announceStages,
  createStages,
  endpoint,
  wrapHandler,
  wrapPackage,
  type Stages,
} from '../helpers/emulator-stages.ts';

announceStages('the deployed form', [
  'moto serves no distribution: the test answers with the objects of the bucket and the headers of the policy',
  'moto has no sign-in pages: the test answers for the issuer',
  'moto runs no API: the test answers with an empty list',
]);

const POLICY = 'content-security-policy';
const DIST = join(ROOT, 'web/dist');
const FORM = {
  name: 'Example',
  logo: 'favicon.svg',
  expectation: { en: 'We answer within two working days.', ja: '2営業日以内に回答します。' },
  languages: ['ja', 'en'],
};

type Form = Awaited<ReturnType<typeof openForm>>;

async function openForm({ client, s3, terraform }: Stages, stage: Stage) {
  const { stdout } = await terraform(stage, 'state', 'pull');
  const { site, form_config: config, function: own, connect_origins = [] } = parseOutputs(stdout);
  const lambda = new Lambda(client);
  const live = await lambda.getAlias({ FunctionName: own.name, Name: 'live' });
  lambda.destroy();
  if (!site || !config) throw new Error(`${stage} has no form`);
  const { Contents = [] } = await s3.listObjectsV2({ Bucket: site.bucket });
  const objects = Contents.map(async ({ Key = '' }) => {
    const { Body, ContentType = '' } = await s3.getObject({ Bucket: site.bucket, Key });
    const body = (await Body?.transformToString()) ?? '';
    return [Key, { body, contentType: ContentType }] as const;
  });
  return {
    site,
    config,
    version: live.FunctionVersion,
    connections: connect_origins,
    objects: Object.fromEntries(await Promise.all(objects)),
  };
}

const readConnections = (policy = ''): string => /connect-src [^;"]*/.exec(policy)?.[0] ?? '';

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

/** In place of CloudFront, the user pool and the API. */
async function play(
  page: Page,
  { site, config, objects, connections: [, signInOrigin] }: Form,
  headers: Record<string, string>,
  complaints: string[],
): Promise<void> {
  const fromAnywhere = { 'access-control-allow-origin': '*' };
  const discovery = {
    issuer: config.issuer,
    authorization_endpoint: `${signInOrigin}/oauth2/authorize`,
  };
  await page.route('**/*', (route, request) => {
    const url = request.url();
    const { origin, pathname } = new URL(url);
    const object = objects[pathname.slice(1) || 'index.html'];
    if (`${origin}/` === site.url && object) return route.fulfill({ headers, ...object });
    if (url === `${config.issuer}/.well-known/openid-configuration`) {
      return route.fulfill({ headers: fromAnywhere, json: discovery });
    }
    if (origin === signInOrigin) return route.fulfill({ body: 'Sign in' });
    if (origin === config.apiUrl) return route.fulfill({ headers: fromAnywhere, json: {} });
    complaints.push(`unexpected: ${url}`);
    return route.abort();
  });
}

describe.skipIf(endpoint === '')(
  'npm run deploy, with no settings but those of a form (skipped without AWS_ENDPOINT_URL)',
  () => {
    let stages: Stages;
    beforeAll(async () => {
      const settings = { develop: {}, release: { form: FORM } };
      stages = await createStages('form', settings, async (request, moment) => {
        if (moment !== 'before' || !request.includes('/smoke-test')) return undefined;
        return (await isPatchRefused()) ? undefined : { status: 500, body: '' };
      });
    });
    const isPatchRefused = async () => {
      const lambda = new Lambda(stages.client);
      const { Payload } = await lambda.invoke({
        FunctionName: `${stages.name}-develop`,
        Qualifier: 'live',
        Payload: JSON.stringify(toEvent({ method: 'PATCH' })),
      });
      lambda.destroy();
      return (Payload?.transformToString() ?? '').includes('"statusCode":405');
    };
    afterAll(() => stages.remove());
    const run = async (command: string, args: string, expected: number, says: RegExp | string) => {
      const { code, output } = await stages.start(command, args).ended;
      process.stdout.write(`${command} ${args}: ${code}, ${output.trim().split('\n').at(-1)}\n`);
      expect([code, output]).toEqual([expected, expect.stringMatching(says)]);
      return output;
    };

    it.each([
      ['develop', {}],
      ['release', FORM],
    ] as const)(
      '%s: the form is in the bucket with its settings, and a second plan is empty',
      async (stage, settings) => {
        const printed = await run('deploy', `${stage} --yes`, 0, '');
        const { site, config, objects, connections } = await openForm(stages, stage);
        const { issuer, clientId, apiUrl } = config;
        expect(printed).toContain(`\nDeployed: ${site.url}\nAPI ${apiUrl}/inquiries\n`);
        expect(config).toEqual({ issuer, clientId, apiUrl, ...settings });
        for (const key of globSync('**/*.*', { cwd: DIST })) {
          if (key === 'index.html') continue;
          expect([key, objects[key]?.body]).toEqual([key, readFileSync(join(DIST, key), 'utf8')]);
        }
        expect(JSON.parse(objects['config.json']?.body ?? '')).toEqual(config);
        expect(readConnections(objects['index.html']?.body)).toBe(
          `connect-src 'self' ${connections.join(' ')}`,
        );
        // No distribution serves it.
        const other = /\nNo changes\. [^]*form {6}index\.html cannot be loaded: /;
        await run('deploy', `${stage} --drift`, 1, other);
      },
    );

    it(
      'the uploaded form works in a page of another origin, and connects to the user pool alone',
      needsBrowser,
      async () => {
        const form = await openForm(stages, 'develop');
        const { site, config, connections, objects } = form;
        const headers = await readHeaders(form, stages);
        const { page, complaints } = await openPage();
        await play(page, form, headers, complaints);

        const element = `<inquiry-form api-url="${config.apiUrl}" language="en"></inquiry-form>`;
        const token = `document.querySelector('inquiry-form').getToken = () => null;`;
        const body = `<!doctype html>${element}<script>${token}</script><script type="module" src="${site.url}inquiry-form.js"></script>`;
        const other = 'https://shop.example.com/';
        await page.route(other, (route) => route.fulfill({ contentType: 'text/html', body }));
        await page.goto(other);
        await page.getByText('Please sign in').first().waitFor();

        await page.goto(site.url);
        const load = (url: string) =>
          page.evaluate(`fetch('${url}').then(({ status }) => status, ({ name }) => name)`);
        expect(await load(`${config.apiUrl}/inquiries`)).toBe(200);
        expect(complaints).toEqual([]);
        expect(await load('https://elsewhere.example.com/')).toBe('TypeError');
        for (const policy of [objects['index.html']?.body, headers[POLICY]]) {
          await expect
            .poll(() => complaints.join('\n'), { timeout: 15_000 })
            .toContain(readConnections(policy));
        }
        expect(complaints.splice(0).join('\n')).not.toContain('unexpected');

        await on(page).button('Sign in').click();
        await page.waitForURL(`${connections[1]}/oauth2/authorize?**`);
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
          response_type: 'code',
          client_id: config.clientId,
          redirect_uri: site.url,
          scope: 'openid email',
          code_challenge_method: 'S256',
        });
      },
    );

    it(
      'a form whose script throws is never served (skipped without Chromium)',
      needsBrowser,
      async () => {
        const [name = ''] = globSync('assets/index-*.js', { cwd: DIST });
        const script = join(stages.folder, 'web/dist', name);
        const before = await openForm(stages, 'develop');
        writeFileSync(script, `throw new Error('broken form');`);
        await run('deploy', 'develop --yes', 1, 'the form does not run: broken form');
        writeFileSync(script, readFileSync(join(DIST, name)));
        expect(await openForm(stages, 'develop')).toEqual(before);
      },
    );

    it('a package that fails the smoke test alone: the version before and its form are live again', async () => {
      const before = await openForm(stages, 'develop');
      const broken = wrapHandler('', `if (method === 'PATCH') found.statusCode = 200;`);
      const zip = join(stages.folder, 'dist/inquiries.zip');
      writeFileSync(zip, wrapPackage('inquiries.zip', broken));
      stages.configure({ develop: { form: FORM }, release: { form: FORM } });
      const says = `Version ${before.version} is live again, with its form.`;
      await run('deploy', 'develop --yes', 1, says);
      const { objects, version } = await openForm(stages, 'develop');
      expect([version, objects['config.json']]).toEqual([
        before.version,
        before.objects['config.json'],
      ]);
      expect(objects['index.html']).toEqual(before.objects['index.html']);
      // The next apply tests the version again.
      await run('deploy', 'develop --plan-only', 0, '# terraform_data.live must be replaced');
      stages.configure({ develop: {}, release: { form: FORM } });
      cpSync(join(ROOT, 'dist/inquiries.zip'), zip);
    });

    it('npm run rollback switches to the version before, and the next deployment to the newest one', async () => {
      const readForm = async () => (await openForm(stages, 'release')).objects['config.json']?.body;
      const first = await openForm(stages, 'release');
      const form = await readForm();
      await run('rollback', 'release --yes', 2, 'There is no version before');
      stages.configure({ develop: {}, release: { inquiries_per_hour: 5 } });
      await run('deploy', 'release --yes', 0, 'Deployed: ');
      expect(await readForm()).not.toBe(form);
      const switched = `Switched: version ${first.version} is live.`;
      await run('rollback', 'release --yes', 0, switched);
      expect(await readForm()).toBe(form);

      const moved = '# terraform_data.live must be replaced';
      await run('deploy', 'release --drift', 1, moved);
      await run('deploy', 'release --yes', 0, 'Deployed: ');
      const last = await openForm(stages, 'release');
      expect(Number(last.version)).toBeGreaterThan(Number(first.version));
      expect(await readForm()).not.toBe(form);
    });

    it('names the holder of the lock, and makes no second table in place of a deleted one', async () => {
      const Key = 'env:/develop/inquiries/terraform.tfstate.tflock';
      const lock = { Bucket: stages.bucket, Key };
      await stages.s3.putObject({ ...lock, Body: '{"ID":"id-1","Who":"ana@host"}' });
      const holder = /ID: +id-1\n[^]* Who: +ana@host\n[^]*docs\/runbook\.md/;
      await run('deploy', 'develop --yes', 1, holder);
      await stages.s3.deleteObject(lock);

      const TableName = `${stages.name}-develop`;
      const dynamodb = new DynamoDB(stages.client);
      await dynamodb.deleteTable({ TableName });
      dynamodb.destroy();
      const message = `The state has aws_dynamodb_table.this, arn:aws:dynamodb:eu-central-1:123456789012:table/${TableName}, but it is not in this account`;
      const output = await run('deploy', 'develop --yes', 2, message);
      expect(output).not.toContain('terraform apply …');
    });
  },
);
