/**
 * What a real Terraform adds to deploy.test.ts and rollback.test.ts, where AWS_ENDPOINT_URL names an emulator of AWS
 * (tests/infra/stages.apply.test.ts).
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { providerSource } from '../../deploy/terraform.ts';
import { toEvent } from '../../lib/contract/contract-checks.ts';
import type { Stage } from '../../lib/aws/stages.ts';
import { createStages, needsEmulator, OWN, type Stages } from './emulator-stages.ts';

const FORM = {
  name: 'Example',
  privacy: 'https://www.example.com/privacy',
  logo: 'favicon.svg',
  expectation: { en: 'We answer within two working days.', ja: '2営業日以内に回答します。' },
  languages: ['ja', 'en'],
};
const inbox = { to: 'team@example.com', from: 'inquiries@example.com', identity: 'example.com' };
const SETTINGS = {
  develop: {},
  main: { ...OWN, inbox },
  release: { form: FORM, retention_days: null },
};

describe('a deployment', needsEmulator, () => {
  let stages: Stages;
  let lambda: Lambda;
  beforeAll(async () => {
    stages = await createStages('deploy', SETTINGS);
    lambda = new Lambda(stages.client);
    // It may be there from an earlier run.
    const ses = new SESv2(stages.client);
    await ses.createEmailIdentity({ EmailIdentity: inbox.identity }).catch(() => undefined);
  });
  afterAll(async () => {
    lambda.destroy();
    await stages.remove();
  });

  const run = async (command: string, args: string, expected: number, says: RegExp | string) => {
    const { code, output } = await stages.start(command, args).ended;
    expect([code, output]).toEqual([expected, expect.stringMatching(says)]);
    return output;
  };
  const readLive = async (suffix: string) => {
    const FunctionName = `${stages.name}-${suffix}`;
    return (await lambda.getAlias({ FunctionName, Name: 'live' })).FunctionVersion;
  };
  const readFile = async (stage: Stage, Key: string) => {
    const Bucket = `${stages.name}-${stage}-site-123456789012`;
    return (await stages.s3.getObject({ Bucket, Key })).Body?.transformToString();
  };
  const readConfig = async (stage: Stage): Promise<Record<string, string>> =>
    JSON.parse((await readFile(stage, 'config.json')) ?? '');

  /** @returns How often users of main get each status until a command has ended. */
  async function useMeanwhile(running: Promise<unknown>) {
    const claims = { sub: crypto.randomUUID(), email: 'user@example.com' };
    const requests = [{ method: 'POST', body: '{"subject":"s","body":"b"}' }, { method: 'GET' }];
    const answers: Record<number, number> = {};
    const ended = running.then(() => true);
    while (!(await Promise.race([ended, sleep(300, false)]))) {
      for (const request of requests) {
        const { Payload } = await lambda.invoke({
          FunctionName: `${stages.name}-main`,
          Qualifier: 'live',
          Payload: JSON.stringify(toEvent(request, claims)),
        });
        const { statusCode = 0 } = JSON.parse(Payload?.transformToString() ?? '');
        answers[statusCode] = (answers[statusCode] ?? 0) + 1;
      }
    }
    return Object.keys(answers);
  }

  it('by plain terraform apply: users meet no broken version, and the next apply checks it again', async () => {
    const terraform = async (...args: string[]) => {
      const { code, output } = await stages.terraform('main', ...args);
      return `${code} ${output.replaceAll(/\s+/g, ' ')}`;
    };
    const apply = () => terraform('apply', '-no-color', '-auto-approve');
    const readAll = () => Promise.all(['main', 'main-mailer', 'main-mailer-replies'].map(readLive));
    const backend = ['-no-color', '-backend-config=backend.s3.tfbackend'];
    await stages.terraform('default', 'init', ...backend, ...providerSource(stages.env));
    expect(await apply()).toMatch(/^0 /);
    const before = await readAll();

    const flag = join(stages.folder, 'broken');
    writeFileSync(flag, '');
    for (const zip of ['inquiries.zip', 'mailer.zip'] as const) {
      const breakIfThere = `if (isThere('${flag}')) throw new Error('${zip} is broken');`;
      stages.change(zip, `import { existsSync as isThere } from 'node:fs'; ${breakIfThere}`);
    }
    const failing = apply();
    expect(await useMeanwhile(failing)).toEqual(['200', '201']);
    for (const says of [/^1 /, 'inquiries.zip is broken', 'mailer.zip is broken']) {
      expect(await failing).toMatch(says);
    }
    expect(await readAll()).toEqual(before);

    rmSync(flag);
    const working = apply();
    expect(await useMeanwhile(working)).toEqual(['200', '201']);
    expect(await working).toMatch(/^0 /);
    for (const [at, version] of (await readAll()).entries()) {
      expect(Number(version)).toBeGreaterThan(Number(before[at]));
    }
    expect(await terraform('plan', '-no-color', '-detailed-exitcode')).toMatch(/^0 /);
  });

  it('of a plan that another deployment has overtaken is refused, and says what is live', async () => {
    const plan = join(stages.folder, 'plan');
    stages.change('inquiries.zip', '// planned');
    await run('deploy', `main --plan-only --plan ${plan}`, 0, '');
    stages.change('inquiries.zip', '// overtaking');
    await run('deploy', 'main --yes', 0, 'Deployed: ');
    stages.change('inquiries.zip', '// planned');
    const output = await run('deploy', `main --yes --plan ${plan}`, 1, 'Saved plan is stale');
    expect(output).toContain(`Version ${await readLive('main')} of ${stages.name}-main is live. `);
  });

  it('serves a form, is taken back with it, and the next one is of the newest version', async () => {
    const printed = await run('deploy', 'release --yes', 0, 'Deployed: ');
    const [version, config] = [await readLive('release'), await readConfig('release')];
    expect(config).toEqual({
      ...FORM,
      issuer: expect.any(String),
      clientId: expect.stringMatching(/./),
      apiUrl: /\nAPI (.*)\/inquiries\n/.exec(printed)?.[1],
    });
    expect(await readFile('release', 'index.html')).toMatch(
      `connect-src 'self' ${new URL(config['issuer'] ?? '').origin} `,
    );
    // No distribution serves it.
    const other = /\nNo changes\. [^]*form {6}index\.html cannot be loaded: /;
    await run('deploy', 'release --drift', 1, other);
    stages.configure({
      ...SETTINGS,
      release: { inquiries_per_hour: 5, retention_days: null, form: { privacy: FORM.privacy } },
    });
    await run('deploy', 'release --yes', 0, 'Deployed: ');
    expect(await readConfig('release')).not.toEqual(config);
    await run(
      'rollback',
      'release --yes',
      0,
      `Switched: version ${version} of ${stages.name}-release is live.`,
    );
    expect(await readConfig('release')).toEqual(config);

    const checkedAgain = '# module.function.terraform_data.live must be replaced';
    await run('deploy', 'release --drift', 1, checkedAgain);
    await run('deploy', 'release --yes', 0, 'Deployed: ');
    expect(Number(await readLive('release'))).toBeGreaterThan(Number(version));
    expect(await readConfig('release')).not.toEqual(config);
  });

  it('names the holder of the lock, and makes no second table in place of a deleted one', async () => {
    await run('deploy', 'develop --yes', 0, 'Deployed: ');
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
});
