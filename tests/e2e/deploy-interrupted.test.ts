/**
 * `npm run deploy` with a real Terraform, its state and lock in a bucket, interrupted at ten moments, where
 * AWS_ENDPOINT_URL names an emulator of AWS (tests/e2e/infra-apply.test.ts). A moment is a request to the emulator, so that
 * it does not depend on the speed of the machine. The build, git and the smoke test are stubs: the emulator runs no function.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/infra/terraform.ts';
import { PROXY_GAPS, startEmulatorProxy } from '../helpers/emulator.ts';

const endpoint = process.env['AWS_ENDPOINT_URL'] ?? '';
if (endpoint === '') {
  process.stdout.write(
    '\nSKIPPED: interrupted deployments, because AWS_ENDPOINT_URL names no emulator of AWS.\n',
  );
}
const region = 'eu-central-1';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const s3 = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
let folder = '';

/** The request that the signal waits for, and what happens when it has been answered. */
let moment: RegExp | undefined;
let reach = (): void => {};
let emulator: Awaited<ReturnType<typeof startEmulatorProxy>>;

/** A copy of what the command needs, with its own bucket for the state. */
async function createStage(name: string, proxyUrl: string) {
  const root = join(folder, name);
  const bucket = `${name}-state`;
  for (const path of ['bin', 'dist', 'tmp', 'home', 'web/dist/assets', 'infra']) {
    mkdirSync(join(root, path), { recursive: true });
  }
  for (const path of ['scripts', 'src', 'web/src']) {
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  }
  for (const path of globSync('infra/terraform/{*.tf,*.json}', { cwd: ROOT })) {
    if (!/_override\.tf|\.auto\.tfvars/.test(path)) cpSync(join(ROOT, path), join(root, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const files = {
    'package.json': '{"type":"module"}',
    'bin/git': '#!/bin/sh\n[ "$1" = status ] || echo abc1234\n',
    'bin/npm': '#!/bin/sh\n',
    'dist/inquiries.zip': 'inquiries',
    'dist/mailer.zip': 'mailer',
    'web/dist/index.html': `<meta content="connect-src 'self'" />`,
    'web/dist/assets/index-1.js': 'script',
    'web/dist/favicon.svg': '<svg/>',
    // Asks for something, so that a test can wait for it.
    'scripts/smoke.ts': `await fetch(process.env.AWS_ENDPOINT_URL + '/smoke-test');`,
    'infra/terraform/backend.s3.tfbackend': `bucket = "${bucket}"
region = "${region}"
use_path_style = true
allowed_account_ids = ["123456789012"]
`,
    'infra/terraform/stages.auto.tfvars': 'stages = { develop = {} }\n',
  };
  for (const [path, content] of Object.entries(files)) writeFileSync(join(root, path), content);
  for (const path of ['bin/git', 'bin/npm']) chmodSync(join(root, path), 0o755);
  await s3.send(
    new CreateBucketCommand({
      Bucket: bucket,
      CreateBucketConfiguration: { LocationConstraint: region },
    }),
  );

  async function deploy(interruptAt?: RegExp, signal: NodeJS.Signals = 'SIGINT') {
    const inherited = Object.entries(process.env).filter(([key]) => !/^(AWS_|TF_VAR_)/.test(key));
    const child = spawn(process.execPath, [join(root, 'scripts/deploy.ts'), 'develop', '--yes'], {
      cwd: root,
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
        TMPDIR: join(root, 'tmp'),
        AWS_ENDPOINT_URL: proxyUrl,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_REGION: region,
        TF_VAR_name: name,
        TF_VAR_runtime: 'nodejs22.x', // the newest one that provider 5.100 knows
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    moment = interruptAt;
    reach = () => void child.kill(signal);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: child.exitCode, isReached: moment === undefined, output: stdout + stderr };
  }
  /** Temporary folders, processes and locks that a deployment should not leave. */
  async function listLeftovers(): Promise<string[]> {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    const locks = Contents.map(({ Key = '' }) => Key).filter((key) => key.endsWith('.tflock'));
    const processes = globSync('/proc/[0-9]*/cwd').filter((link) => {
      try {
        return readlinkSync(link).startsWith(root);
      } catch {
        return false; // it has ended, or is another user's
      }
    });
    const failed = existsSync(join(root, 'infra/terraform/errored.tfstate')) ? ['errored.tfstate'] : [];
    return [...locks, ...processes, ...failed, ...readdirSync(join(root, 'tmp'))];
  }
  return { deploy, listLeftovers };
}

describe.skipIf(endpoint === '')(
  'npm run deploy, interrupted (skipped without AWS_ENDPOINT_URL)',
  { timeout: 900_000 },
  () => {
    let url = '';
    const run = crypto.randomUUID().slice(0, 8);
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'deploy-interrupted-'));
      // After the answer: what AWS has made while Terraform stops waiting for it is not in the state (docs/runbook.md).
      emulator = await startEmulatorProxy(endpoint, (request) => {
        if (!moment?.test(request)) return;
        moment = undefined;
        reach();
      });
      url = emulator.url;
      process.stdout.write(`\nADDED to the emulator:\n  ${PROXY_GAPS.join('\n  ')}\n`);
    });
    afterAll(async () => {
      await emulator.stop();
      rmSync(folder, { recursive: true, force: true });
      s3.destroy();
    });

    const PLANNING = 'Interrupted while planning: nothing was changed.\n';
    const APPLYING =
      'Interrupted while applying: Terraform saved what it had changed. Run the same command again.\n';
    /** Of each stage the moments, and what the command says. */
    const STAGES: Record<string, [string, RegExp, string][]> = {
      first: [
        ['the workspace is created', /^PUT \/first-\w+-state\/env[^?]*\.tfstate(\?|$)/, PLANNING],
        ['init reads the bucket', /^GET \/first-\w+-state\/?\?/, PLANNING],
        ['the plan takes the lock', /^PUT \/first-\w+-state\/env.*\.tflock/, PLANNING],
        ['the upload reads the bucket', /^HEAD .*-site-.*\/assets\//, 'Interrupted while uploading the form'],
        ['the stage is tested', /^GET \/smoke-test/, 'Interrupted while testing the stage'],
      ],
      second: [['the first role is created', /Action=CreateRole\b/, APPLYING]],
      third: [['a table is created', /CreateTable/, APPLYING]],
      fourth: [['the function is created', /^POST \/2015-03-31\/functions\b/, APPLYING]],
      fifth: [['the gateway is created', /^POST \/v2\/apis\/\w+\/stages/, APPLYING]],
      sixth: [['the alarms are created', /PutMetricAlarm/, APPLYING]],
    };
    it.each(Object.entries(STAGES))(
      'the %s stage: each interruption leaves nothing behind, and the next deployment succeeds',
      async (key, moments) => {
        const { deploy, listLeftovers } = await createStage(`${key}-${run}`, url);
        for (const [title, interruptAt, message] of moments) {
          const interrupted = await deploy(interruptAt);
          expect.soft([title, interrupted.isReached, interrupted.code]).toEqual([title, true, 130]);
          expect(interrupted.output).toContain(message);
          expect(await listLeftovers()).toEqual([]);
          const next = await deploy();
          expect([title, next.code, next.output]).toEqual([title, 0, expect.stringMatching(/eployed: /)]);
          expect(await listLeftovers()).toEqual([]);
        }
      },
    );
  },
);
