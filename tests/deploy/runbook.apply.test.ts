/** The first command of each section of the runbook, as it is printed, on a stage in an emulator of AWS. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { SQS } from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { findProgram } from '../../lib/terminal/programs.ts';
import { tableDefinition, WITH_STREAM } from '../../local/database/table.ts';
import { unless } from '../helpers/needs.ts';
import { readText } from '../helpers/repository.ts';
import { toAwsEnv } from '../local/aws.ts';
import { clientOf, endpoint, needsEmulator } from './emulator-stages.ts';
import { startEmulatorProxy } from './emulator.ts';

const NAME = 'inquiries-release';
const run = promisify(execFile);
const obstacle = unless(
  findProgram(['aws'], process.env) === undefined
    ? 'the AWS CLI is needed'
    : needsEmulator.meta?.skipped,
);
/** What moto 5.2.5 lacks: the AWS CLI knows it, and moto answers 404. */
const LACKING = /\(404\) when calling the (GetAccountSettings|GetAccount) operation/;

/** A section's first command: in a block, with the variables that it sets before, or in a sentence. */
const COMMAND =
  /^```sh\n((?:[A-Z]+=.*\n)*(?:.*\\\n)*.*)|`((?:npm run|aws|terraform|TF_WORKSPACE=\w+)[^`]*)`/m;
const sections = readText('docs/runbook.md').split(/^##+ /m).slice(1);
const first = sections.flatMap((section): [title: string, command: string][] => {
  const [, block, inline] = COMMAND.exec(section) ?? [];
  const command = (block ?? inline)?.replace(/ +# .*/, '');
  return command === undefined ? [] : [[section.split('\n', 1)[0] ?? '', command]];
});
/** Whether the tests of deployments run the command. */
const isTerraforms = ([, command]: string[]) =>
  /^(npm run (smoke|rollback|deploy)|awk|export|.*terraform) /.test(command ?? '');

/** What the commands ask about, and words that stand for its ids. */
async function createStage() {
  const { url, stop } = await startEmulatorProxy(endpoint);
  afterAll(stop);
  // Other tests deploy their stages in another region.
  const region = 'eu-west-1';
  const client = { ...clientOf(url), region };
  // Version 1 of the AWS CLI reads AWS_DEFAULT_REGION only.
  const regions = { AWS_REGION: region, AWS_DEFAULT_REGION: region };
  const env = { ...process.env, LC_ALL: 'C', ...toAwsEnv(url), ...regions };
  const [logs, iam, lambda] = [new CloudWatchLogs(client), new IAM(client), new Lambda(client)];
  const { TableDescription } = await new DynamoDB(client).createTable({
    TableName: NAME,
    ...tableDefinition,
    ...WITH_STREAM,
  });
  const arn = TableDescription?.LatestStreamArn;
  const mailers = ['mailer', 'mailer-replies'].map((mailer) => `${NAME}-${mailer}`);
  const groups = [NAME, ...mailers].map((each) => `/aws/lambda/${each}`);
  for (const logGroupName of [...groups, `/aws/vendedlogs/apigateway/${NAME}`]) {
    await logs.createLogGroup({ logGroupName });
  }
  await new SQS(client).createQueue({ QueueName: `${NAME}-mailer-dead-letters` });
  const { Role } = await iam.createRole({
    RoleName: NAME,
    AssumeRolePolicyDocument: '{"Version":"2012-10-17","Statement":[]}',
  });
  const ZipFile = readFileSync(join(ROOT, 'dist/mailer.zip'));
  const Variables = {
    AWS_REGION: region,
    TABLE_NAME: NAME,
    STAGE: 'release',
    INBOX_TO: 'support@example.com',
    INBOX_FROM: 'inquiries@example.com',
  };
  for (const FunctionName of [NAME, ...mailers]) {
    await lambda.createFunction({
      FunctionName,
      Role: Role?.Arn,
      Runtime: 'nodejs22.x',
      Handler: 'mailer.handler',
      Code: { ZipFile },
      Environment: { Variables },
      Timeout: 60,
    });
    const { Version } = await lambda.publishVersion({ FunctionName });
    await lambda.createAlias({ FunctionName, FunctionVersion: Version, Name: 'live' });
    await lambda.createEventSourceMapping({
      FunctionName: `${FunctionName}:live`,
      EventSourceArn: arn,
      StartingPosition: 'LATEST',
    });
  }
  const { stdout } = await run(
    'aws',
    ['acm', 'request-certificate', '--domain-name', 'api.example.com'],
    { env },
  );
  const { CertificateArn } = JSON.parse(stdout) as { CertificateArn: string };
  await iam.createUser({ UserName: 'USER' });
  const { AccessKey } = await iam.createAccessKey({ UserName: 'USER' });
  return {
    env,
    words: {
      ARN: CertificateArn,
      'AKIA…': AccessKey?.AccessKeyId ?? '',
      '--sub SUB': '--sub 2f0d2c3b-4a59-4b9c-8a4e-2f0d2c3b4a59',
    },
  };
}

describe('the runbook’s first command runs, of', obstacle, async () => {
  const { env, words } = obstacle.skip ? { env: {}, words: {} } : await createStage();
  const tried = first.filter((each) => !isTerraforms(each));

  it.each(tried)('%s: %s', async (_title, command) => {
    const filled = Object.entries(words).reduce(
      (text, [word, id]) => text.replaceAll(word, id),
      command,
    );
    const { stderr } = await run('bash', ['-ec', filled], { cwd: ROOT, env }).catch(
      (error: Error & { stderr: string }) => {
        if (LACKING.test(error.stderr)) return { stderr: '' };
        throw error;
      },
    );
    expect(stderr).toBe('');
  });
});
