/** `npm run rollback` and deploy/versions.ts, with a server that plays Lambda and STS. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:https';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../deploy/terraform.ts';
import { ROOT } from '../../lib/paths.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { startLambdaApi, toModule } from '../helpers/lambda-api.ts';
import type { Other } from '../helpers/lambda-api.ts';

// util-linux's script gives the command a terminal.
const hasScript = (await run('script', ['--version'])).code === 0;
if (!hasScript) {
  process.stdout.write('\nSKIPPED: rollback at a terminal, because `script` is not on the PATH.\n');
}

const NAME = 'inquiries-release';
const ACCOUNT = '111122223333';
const API = 'a1b2c3d4e5';
const HOST = `${API}.execute-api.eu-central-1.amazonaws.com`;

interface Alias {
  readonly name: string;
  version: string;
  weights: Record<string, number>;
  revision: number;
}
/** What Lambda has. */
let versions: string[] = [];
let aliases: Alias[] = [];
let hasPermission = true;
/** Answers in the place of success, by method and path. */
let failures: Record<string, { status: number; type: string; message: string }> = {};
/** Requests that change something. */
let changes: string[] = [];
/** Runs before an alias is switched. */
let beforeSwitch = (): void => undefined;

const toJson = (alias: Alias) => ({
  Name: alias.name,
  FunctionVersion: alias.version,
  RevisionId: String(alias.revision),
  ...(Object.keys(alias.weights).length > 0 && {
    RoutingConfig: { AdditionalVersionWeights: alias.weights },
  }),
});
const toVersion = (version: string) => ({
  Version: version,
  LastModified:
    version === '$LATEST'
      ? '2026-11-22T10:00:00.000+0000'
      : `2026-11-${version.padStart(2, '0')}T10:20:30.000+0000`,
  CodeSha256: `sha-${version}`,
});

const playAws: Other = (request, body, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const type = { 'content-type': 'application/json' };
  const send = (status: number, json: object) => response.writeHead(status, type).end(JSON.stringify(json));
  const fail = (status: number, errorType: string, message: string) =>
    response
      .writeHead(status, { ...type, 'x-amzn-errortype': errorType })
      .end(JSON.stringify({ Message: message }));
  if (body.includes('Action=GetCallerIdentity')) {
    return response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>${ACCOUNT}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
      );
  }
  const [, name, rest = ''] = /^\/2015-03-31\/functions\/([^/]+)(.*)$/.exec(path) ?? [];
  const failure = failures[`${request.method} ${rest}`];
  if (failure !== undefined) return fail(failure.status, failure.type, failure.message);
  const alias = aliases.find((each) => rest === `/aliases/${each.name}`);
  if (name !== NAME) return fail(404, 'ResourceNotFoundException', `Function not found: ${name}`);
  if (request.method === 'GET' && rest === '/versions') {
    // Pages of two.
    const all = ['$LATEST', ...versions];
    const from = Number(new URLSearchParams(query).get('Marker') ?? 0);
    const next = from + 2 < all.length ? { NextMarker: String(from + 2) } : {};
    return send(200, { Versions: all.slice(from, from + 2).map(toVersion), ...next });
  }
  if (request.method === 'GET' && rest === '/aliases') return send(200, { Aliases: aliases.map(toJson) });
  if (request.method === 'GET' && rest === '/policy' && hasPermission) {
    const Condition = {
      ArnLike: { 'AWS:SourceArn': `arn:aws:execute-api:eu-central-1:${ACCOUNT}:${API}/*/*/inquiries` },
    };
    return send(200, { Policy: JSON.stringify({ Statement: [{ Effect: 'Allow', Condition }] }) });
  }
  if (request.method === 'GET' && alias !== undefined) return send(200, toJson(alias));
  if (request.method === 'PUT' && alias !== undefined) {
    const { FunctionVersion, RoutingConfig, RevisionId } = JSON.parse(body) as {
      FunctionVersion: string;
      RoutingConfig?: { AdditionalVersionWeights?: Record<string, number> };
      RevisionId?: string;
    };
    beforeSwitch();
    if (RevisionId !== undefined && RevisionId !== String(alias.revision)) {
      return fail(412, 'PreconditionFailedException', 'The RevisionId provided does not match');
    }
    changes.push(`switch ${FunctionVersion}`);
    alias.version = FunctionVersion;
    alias.weights = RoutingConfig?.AdditionalVersionWeights ?? alias.weights;
    alias.revision += 1;
    return send(200, toJson(alias));
  }
  const qualifier = new URLSearchParams(query).get('Qualifier');
  if (request.method === 'DELETE' && rest === '') {
    changes.push(`delete ${qualifier ?? 'THE FUNCTION'}`);
    versions = versions.filter((version) => version !== qualifier);
    return response.writeHead(204).end();
  }
  return fail(404, 'ResourceNotFoundException', 'The resource you requested does not exist.');
};

/** The gateway: 401 without a token; or an execute-api address that is switched off. */
let isSwitchedOff = false;
const gateway: Parameters<typeof createServer>[1] = (request, response) => {
  if (isSwitchedOff) return response.writeHead(404).end('{"message":"Not Found"}');
  if (request.method !== 'OPTIONS') return response.writeHead(401).end('{"message":"Unauthorized"}');
  const isOurs = request.headers.origin === 'http://localhost:5173';
  const cors = {
    'access-control-allow-origin': 'http://localhost:5173',
    'access-control-allow-methods': 'GET,POST',
    'access-control-allow-headers': 'authorization,content-type,idempotency-key',
  };
  return response.writeHead(204, isOurs ? cors : {}).end();
};
const stage = createServer(gateway);
/** Where requests to the execute-api address arrive: the commands use it as their proxy. */
const proxy = createServer();
/** Hosts that were asked for. */
let hosts: string[] = [];

let api: Awaited<ReturnType<typeof startLambdaApi>>;
let folder = '';
let url = '';
let environment: NodeJS.ProcessEnv = {};
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  api = await startLambdaApi(playAws);
  url = `http://127.0.0.1:${await listen(stage, 0)}`;
  const { cert, private: key } = await generate([{ name: 'commonName', value: HOST }]);
  const secure = createTlsServer({ cert, key }, gateway);
  const securePort = await listen(secure, 0);
  proxy.on('connect', (request, socket) => {
    hosts.push(request.url ?? '');
    const server = connect(securePort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      server.pipe(socket).pipe(server);
    });
    server.on('error', () => socket.destroy());
    socket.on('error', () => server.destroy());
  });
  const proxyPort = await listen(proxy, 0);
  closing.push(...[stage, secure, proxy].map((server) => () => close(server)), () => api.close());

  folder = mkdtempSync(join(tmpdir(), 'rollback-test-'));
  mkdirSync(join(folder, 'infra/terraform'), { recursive: true });
  for (const name of ['scripts', 'src']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  environment = {
    HOME: folder,
    PATH: '/usr/bin:/bin',
    AWS_ENDPOINT_URL: api.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_NO_WARNINGS: '1',
    HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
    NO_PROXY: '127.0.0.1',
  };
});
afterAll(async () => {
  for (const end of closing) await end();
  rmSync(folder, { recursive: true, force: true });
});

const FAILING = toModule('return { statusCode: 500, headers: {}, body: "{}" };');
beforeEach(async () => {
  versions = ['1', '2', '3', '9', '10'];
  aliases = [{ name: 'live', version: '10', weights: {}, revision: 1 }];
  [hasPermission, isSwitchedOff, failures, changes, hosts] = [true, false, {}, [], []];
  beforeSwitch = () => undefined;
  api.invoked.length = 0;
  await api.deploy(`${NAME}:live`);
});
afterEach(() => {
  for (const name of ['backend', 'release'])
    rmSync(join(folder, `infra/terraform/${name}.s3.tfbackend`), { force: true });
});

function rollback(args: string, env: NodeJS.ProcessEnv = {}) {
  const script = [join(folder, 'deploy/rollback.ts'), ...args.split(' ').filter((arg) => arg !== '')];
  return run(process.execPath, script, { cwd: folder, env: { ...environment, ...env } });
}
const writeBackend = (name: string, accounts: string) =>
  writeFileSync(join(folder, `infra/terraform/${name}.s3.tfbackend`), `bucket = "b"\n${accounts}\n`);

describe('npm run rollback', { timeout: 60_000 }, () => {
  it('switches the alias to the version before the live one, checks the stage, and says how to go forward', async () => {
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(`inquiries-release, stage release, account ${ACCOUNT}, region eu-central-1\n`);
    expect(output).toContain('     10  2026-11-10 10:20  sha-10  live\n');
    expect(output).toContain('      9  2026-11-09 10:20  sha-9  <- switch to this version\n');
    expect(output).toContain('Switched: version 9 is live.\n');
    expect(output).toContain('passed   the function answers 401 without claims');
    expect(output).toContain('passed   401 without a token');
    expect(output).toContain('smoke: 6 passed, 0 failed, 6 skipped');
    expect(output).toContain('To go forward: correct or revert the commit, then npm run deploy -- release.');
    expect(output).toContain('drift job, reports the alias (aws_lambda_alias.live)');
    expect([code, changes]).toEqual([0, ['switch 9']]);
    expect(new Set(hosts)).toEqual(new Set([`${HOST}:443`]));
  });

  it('switches to the version that is named, also forward', async () => {
    expect(await rollback('release 2 --yes')).toMatchObject({ code: 0 });
    expect(await rollback('release 10 --yes')).toMatchObject({ code: 0 });
    expect(changes).toEqual(['switch 2', 'switch 10']);
  });

  it('during a gradual deployment goes back to the old version alone', async () => {
    aliases = [{ name: 'live', version: '9', weights: { '10': 0.1 }, revision: 1 }];
    const { code, output } = await rollback('release --yes');
    expect(output).toContain('sha-10  live, 10 % of the requests\n');
    expect(output).toContain('sha-9  live, 90 % of the requests  <- switch to this version\n');
    expect([code, aliases[0]]).toEqual([0, { name: 'live', version: '9', weights: {}, revision: 2 }]);
  });

  it('lists the versions, newest first, with their dates and packages, and changes nothing', async () => {
    const { code, output } = await rollback('release --list');
    expect(output.split('\n').slice(1, -1)).toEqual([
      '     10  2026-11-10 10:20  sha-10  live',
      '      9  2026-11-09 10:20  sha-9',
      '      3  2026-11-03 10:20  sha-3',
      '      2  2026-11-02 10:20  sha-2',
      '      1  2026-11-01 10:20  sha-1',
    ]);
    expect([code, changes, api.invoked]).toEqual([0, [], []]);
  });

  it('fails and says which version is live when the smoke test fails', async () => {
    await api.deploy(`${NAME}:live`, FAILING);
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      'The smoke test failed. Version 9 is live; before it was 10. --list shows all versions.\n',
    );
    expect([code, changes]).toEqual([1, ['switch 9']]);
  });

  it.each([
    ['is switched off', () => (isSwitchedOff = true)],
    ['is not in the permission', () => (hasPermission = false)],
  ])('checks the function alone when the execute-api address %s', async (_what, arrange) => {
    arrange();
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      'The execute-api address is switched off: only the function will be checked, unless you pass --url.\n',
    );
    expect(output).toContain('smoke: 2 passed, 0 failed, 10 skipped');
    expect(code).toBe(0);
  });

  it('checks the address that is given', async () => {
    const { code, output } = await rollback(`release --yes --url ${url}`);
    expect(output).toContain('smoke: 6 passed, 0 failed, 6 skipped');
    expect([code, hosts]).toEqual([0, []]);
  });

  it('switches in an account that the place of the state allows', async () => {
    writeBackend('backend', `allowed_account_ids = ["444455556666", "${ACCOUNT}"]`);
    expect(await rollback('release --yes')).toMatchObject({ code: 0 });
  });

  it.skipIf(!hasScript).each([
    ['echo release', 0, ['switch 9']],
    ['echo yes', 2, []],
    // Ctrl+C and Ctrl+D, once the question is there.
    [String.raw`until grep -q confirm: log; do sleep 0.1; done; printf "\003"; sleep 1`, 2, []],
    [String.raw`until grep -q confirm: log; do sleep 0.1; done; printf "\004"; sleep 1`, 2, []],
  ])('asks at a terminal, and switches only if the stage is typed: %s', async (input, code, changed) => {
    writeFileSync(join(folder, 'log'), '');
    const command = `(${input}) | script -qefc '"${process.execPath}" deploy/rollback.ts release' log`;
    const outcome = await run('sh', ['-c', command], { cwd: folder, env: environment });
    expect(outcome.output).toContain('Switch to it? Type release to confirm: ');
    expect(outcome.output.includes('Nothing was changed.')).toBe(code === 2);
    expect([outcome.code, changes]).toEqual([code, changed]);
  });
});

describe('npm run rollback refuses in one line and changes nothing:', { timeout: 60_000 }, () => {
  const stages = 'stages are develop, main and release.';
  it.each<[args: string, message: string, arrange?: () => unknown, env?: NodeJS.ProcessEnv]>([
    ['--yes', 'The stage is missing: npm run rollback -- develop|main|release'],
    ['production --yes', `"production" is not a stage; ${stages}`],
    ['release 1.5 --yes', '"1.5" is not a version; a version is a number.'],
    ['release 1 2 --yes', '"1 2" is not a version; a version is a number.'],
    ['release --force', "Unknown option '--force' (see --help)"],
    ['release', 'There is no terminal for the confirmation; pass --yes or --list.'],
    ['release 10 --yes', 'Version 10 is live already.'],
    ['release 4 --yes', 'There is no version 4; there are 10, 9, 3, 2, 1.'],
    [
      'release --yes',
      'There is no version before 1, which is live.',
      () => (aliases = [{ name: 'live', version: '1', weights: {}, revision: 1 }]),
    ],
    [
      'release --yes',
      `There is no function ${NAME} with an alias live in this account and region; npm run deploy -- release makes it.`,
      () => (aliases = []),
    ],
    [
      'develop --yes',
      'There is no function inquiries-develop with an alias live in this account and region; npm run deploy -- develop makes it.',
    ],
    [
      'release --yes --function contact-release',
      'There is no function contact-release with an alias live in this account and region; npm run deploy -- release makes it.',
    ],
    [
      'release --yes',
      `The credentials are of account ${ACCOUNT}, but release is in 444455556666 (infra/terraform/backend.s3.tfbackend).`,
      () => writeBackend('backend', 'allowed_account_ids = ["444455556666"]'),
    ],
    [
      'release --list',
      `The credentials are of account ${ACCOUNT}, but release is in 444455556666 (infra/terraform/release.s3.tfbackend).`,
      () => {
        writeBackend('backend', `allowed_account_ids = ["${ACCOUNT}"]`);
        writeBackend('release', 'allowed_account_ids = ["444455556666"]');
      },
    ],
    [
      'release --yes',
      'There is no AWS region; set AWS_REGION or AWS_PROFILE.',
      () => undefined,
      { AWS_REGION: '' },
    ],
  ])('%s: %s', async (args, message, arrange = () => undefined, env = {}) => {
    arrange();
    const { code, output } = await rollback(args, env);
    const lines = output.split('\n').filter((line) => !/^(inquiries-|contact-)\w+, stage/.test(line));
    expect([code, lines]).toEqual([2, [message, '']]);
    expect(changes).toEqual([]);
  });

  it('an alias that somebody else has switched meanwhile', async () => {
    beforeSwitch = () => Object.assign(aliases[0] ?? {}, { version: '3', revision: 7 });
    const { code, output } = await rollback('release --yes');
    expect(output).toContain(
      'The alias live of inquiries-release was changed by somebody else meanwhile and names version 3; it was not switched.\n',
    );
    expect([code, changes]).toEqual([2, []]);
  });

  it.each([
    ['PUT /aliases/live', 'lambda:UpdateAlias'],
    ['GET /policy', 'lambda:GetPolicy'],
  ])(
    'credentials that do not allow what it needs (%s), naming it, with exit code 1',
    async (request, action) => {
      const message = `User: arn:aws:iam::${ACCOUNT}:user/ana is not authorized to perform: ${action} on resource: r`;
      failures = { [request]: { status: 403, type: 'AccessDeniedException', message } };
      const { code, output } = await rollback('release --yes');
      expect(output).toContain(`The AWS credentials do not allow ${action}.\n`);
      expect([code, changes]).toEqual([1, []]);
    },
  );
});

describe('the versions of a function', () => {
  beforeEach(() => {
    for (const name of ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      vi.stubEnv(name, environment[name]);
  });
  afterEach(() => void vi.unstubAllEnvs());
  const load = () => import('../../deploy/versions.ts');

  it('are pruned to the newest ones, of all pages, by number', async () => {
    const { pruneVersions } = await load();
    expect(await pruneVersions(NAME, 2)).toEqual(['3', '2', '1']);
    expect(versions).toEqual(['9', '10']);
    expect(await pruneVersions(NAME, 2)).toEqual([]);
  });

  it('are kept while an alias names them, also with a weight', async () => {
    const { pruneVersions } = await load();
    aliases = [
      { name: 'live', version: '2', weights: { '3': 0.5 }, revision: 1 },
      { name: 'mine', version: '9', weights: {}, revision: 1 },
    ];
    expect(await pruneVersions(NAME, 1)).toEqual(['1']);
    expect(changes).toEqual(['delete 1']);
  });

  it('are kept when Lambda refuses to delete them, since an alias has been switched to them meanwhile', async () => {
    const { pruneVersions } = await load();
    failures = { 'DELETE ': { status: 409, type: 'ResourceConflictException', message: 'alias' } };
    expect(await pruneVersions(NAME, 3)).toEqual([]);
  });

  it('are switched without weights, and whoever else changed the alias first is not overwritten', async () => {
    const { readLive, switchAlias } = await load();
    aliases = [{ name: 'live', version: '9', weights: { '10': 0.1 }, revision: 1 }];
    const live = await readLive(NAME);
    expect(live).toEqual({ version: '9', weights: { '10': 0.1 }, revisionId: '1' });
    await switchAlias(NAME, '3', live.revisionId);
    expect(await readLive(NAME)).toEqual({ version: '3', weights: {}, revisionId: '2' });
    await expect(switchAlias(NAME, '2', live.revisionId)).rejects.toThrow(
      'names version 3; it was not switched',
    );
    await switchAlias(NAME, '2');
    expect(changes).toEqual(['switch 3', 'switch 2']);
  });

  it('count as switched when the response to the switch was lost and the SDK sent it again', async () => {
    const { switchAlias } = await load();
    beforeSwitch = () => Object.assign(aliases[0] ?? {}, { version: '3', revision: 2 });
    await switchAlias(NAME, '3', '1');
    expect(aliases[0]?.version).toBe('3');
  });
});
