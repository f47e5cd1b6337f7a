/**
 * Publishes versions of the built function to an emulator of the AWS APIs, where AWS_ENDPOINT_URL names one, and rolls back and
 * forward again with the commands. See stages.apply.test.ts for the emulator.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  CreateAliasCommand,
  CreateFunctionCommand,
  DeleteFunctionCommand,
  LambdaClient,
  UpdateAliasCommand,
  UpdateFunctionCodeCommand,
} from '@aws-sdk/client-lambda';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { startFunction } from '../../local/lambda/function.ts';
import { BUILT } from '../helpers/sandbox.ts';

/** What the emulator does not do, and what stands in its place. */
const LEFT_OUT = [
  'moto runs a function in Docker only: invocations are answered by the built function in the local sandbox, whatever the version',
  'moto ignores RevisionId, and deletes versions that an alias names: tests/deploy/rollback.test.ts plays both',
  'there is no API: --url is not passed, so the checks of the API are skipped',
];

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
if (endpoint === '') {
  process.stdout.write(
    '\nSKIPPED: rollback on an emulator, because AWS_ENDPOINT_URL names no emulator of AWS.\n',
  );
}

/** A name of this run only, so that one emulator serves several runs. */
const FunctionName = `rollback-${crypto.randomUUID().slice(0, 8)}-release`;
const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const lambda = new LambdaClient({
  ...(endpoint !== '' && { endpoint }),
  region: aws.AWS_REGION,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});
/** Packages that differ. */
const readZip = (name: 'inquiries' | 'mailer') => readFileSync(join(ROOT, `dist/${name}.zip`));

/** Hands a request on to the emulator. */
async function forward(method: string, path: string, headers: IncomingHttpHeaders, body: string) {
  const { host: _, connection: __, 'content-length': ___, ...kept } = headers;
  return fetch(endpoint + path, {
    method,
    headers: kept as Record<string, string>,
    ...(body !== '' && { body }),
  });
}

/** The emulator, with invocations by the local sandbox. */
let url = '';
/** Whether the function throws. */
let isBroken = false;
const built = await startFunction({
  module: BUILT,
  environment: { TABLE_NAME: 't', CORS_ORIGIN: 'https://www.example.com', ...aws },
  timeout: 30_000,
});
const server = createServer((request, response) => {
  void (async () => {
    const { method = '', url: path = '', headers } = request;
    const body = await text(request);
    if (path.endsWith('/invocations')) {
      return isBroken
        ? response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end('{"errorMessage":"broken"}')
        : response.end(await built.invoke(body, crypto.randomUUID()));
    }
    const answer = await forward(method, path, headers, body);
    const type = answer.headers.get('content-type') ?? 'application/json';
    const error = answer.headers.get('x-amzn-errortype');
    return response
      .writeHead(answer.status, { 'content-type': type, ...(error && { 'x-amzn-errortype': error }) })
      .end(await answer.text());
  })();
});

const rollback = (...args: string[]) =>
  run(process.execPath, [join(ROOT, 'deploy/rollback.ts'), 'release', '--function', FunctionName, ...args], {
    env: { ...process.env, ...aws, AWS_ENDPOINT_URL: url, SMOKE_TOKEN: '' },
  });

describe.skipIf(endpoint === '')(
  'npm run rollback on an emulator (skipped without AWS_ENDPOINT_URL)',
  { timeout: 120_000 },
  () => {
    beforeAll(async () => {
      process.stdout.write(`\nLEFT OUT, because the emulator is moto:\n  ${LEFT_OUT.join('\n  ')}\n`);
      url = `http://127.0.0.1:${await listen(server, 0)}`;
      const role = new URLSearchParams({
        Action: 'CreateRole',
        Version: '2010-05-08',
        RoleName: FunctionName,
        AssumeRolePolicyDocument: '{"Version":"2012-10-17","Statement":[]}',
      });
      const authorization =
        'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0';
      const type = 'application/x-www-form-urlencoded';
      const made = await forward('POST', '/', { authorization, 'content-type': type }, role.toString());
      const [, Role = ''] = /<Arn>([^<]+)</.exec(await made.text()) ?? [];
      await lambda.send(
        new CreateFunctionCommand({
          FunctionName,
          Role,
          Runtime: 'nodejs22.x',
          Handler: 'handler.handler',
          Code: { ZipFile: readZip('inquiries') },
          Publish: true,
        }),
      );
      await lambda.send(new CreateAliasCommand({ FunctionName, Name: 'live', FunctionVersion: '1' }));
    }, 120_000);
    afterAll(async () => {
      await close(server);
      await built.close();
      await lambda.send(new DeleteFunctionCommand({ FunctionName }));
      lambda.destroy();
    });
    afterEach(() => void vi.unstubAllEnvs());

    /** What a deployment does: publishes a version, and puts the alias on it. */
    async function deploy(name: 'inquiries' | 'mailer'): Promise<string> {
      const code = new UpdateFunctionCodeCommand({ FunctionName, ZipFile: readZip(name), Publish: true });
      const { Version = '' } = await lambda.send(code);
      await lambda.send(new UpdateAliasCommand({ FunctionName, Name: 'live', FunctionVersion: Version }));
      return Version;
    }
    /** The module reads the environment when it is loaded. */
    async function load() {
      vi.resetModules();
      for (const [name, value] of Object.entries(aws)) vi.stubEnv(name, value);
      return import('../../deploy/versions.ts');
    }

    it('goes back, and forward with the next deployment', async () => {
      const { listVersions, readLive } = await load();
      expect(await rollback('--yes')).toMatchObject({ code: 2 });
      expect(await deploy('mailer')).toBe('2');
      expect(await readLive(FunctionName)).toMatchObject({ version: '2' });

      const back = await rollback('--yes');
      expect(back.output).toContain('Switched: version 1 is live.');
      expect(back.output).toContain('smoke: 2 passed, 0 failed, 10 skipped');
      expect(back.code).toBe(0);
      expect(await readLive(FunctionName)).toMatchObject({ version: '1' });

      expect(await deploy('inquiries')).toBe('3');
      expect(await readLive(FunctionName)).toMatchObject({ version: '3' });
      const { output } = await rollback('--list');
      const [third, , first] = await listVersions(FunctionName);
      expect(third?.sha256).toBe(first?.sha256);
      expect(output).toMatch(/^ +3 .* live\n +2 .*\n +1 .*\n$/m);
    });

    it('fails when the function of the version does not answer, and the alias stays where it says', async () => {
      const { readLive } = await load();
      isBroken = true;
      const { code, output } = await rollback('2', '--yes');
      expect(output).toContain('The smoke test failed. Version 2 is live; before it was 3.');
      expect([code, (await readLive(FunctionName)).version]).toEqual([1, '2']);
    });

    it('prunes all versions but the newest ones and the live one', async () => {
      const { listVersions, pruneVersions } = await load();
      expect(await pruneVersions(FunctionName, 1)).toEqual(['1']);
      expect((await listVersions(FunctionName)).map(({ version }) => version)).toEqual(['3', '2']);
    });
  },
);
