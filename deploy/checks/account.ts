/** Checks what an account lacks before anything is created. What is `pending` does not stop bootstrap. */
import { Budgets } from '@aws-sdk/client-budgets';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { IAM, paginateListPolicies } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { SESv2 } from '@aws-sdk/client-sesv2';
import { NETWORK } from '../../lib/aws/aws.ts';
import { RECEIVING_REGIONS } from '../../lib/aws/stages.ts';
import { assert } from '../../lib/contract/contract-checks.ts';
import { parseObject } from '../../lib/terminal/command-line.ts';
import { terraformUnavailableReason } from '../terraform.ts';
import { run } from '../../lib/terminal/run.ts';
import { ask, Pending, type Check } from './run-checks.ts';

/** AWS's default is 1,000, and 10 for new accounts (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). */
const INSTANCES = 1_000;

interface Account {
  accountId: string;
  region: string;
  name: string;
  budget?: unknown;
  receivesMail: boolean;
  env: NodeJS.ProcessEnv;
}

async function checkTerraform(env: NodeJS.ProcessEnv): Promise<void> {
  const lack = await terraformUnavailableReason(env);
  assert(lack === undefined, String(lack));
}

/** Asks the AWS CLI, since the SDK's client is not in every registry. */
async function checkPlan(env: NodeJS.ProcessEnv): Promise<string> {
  const { code, stdout } = await run(
    'aws',
    ['freetier', 'get-account-plan-state', '--region=us-east-1', '--output=json'],
    { env },
  );
  if (code !== 0) {
    throw new Pending(
      'not known without the AWS CLI 2. AWS closes an account on the Free plan after six months, with its data: upgrade it (Billing and Cost Management)',
    );
  }
  const { accountPlanType: type, accountPlanExpirationDate: end } = parseObject(stdout) ?? {};
  if (type !== 'FREE') return String(type);
  throw new Pending(
    `AWS closes an account on the Free plan, with its data, on ${String(end)}: upgrade it (Billing and Cost Management)`,
  );
}

/** Names of roles, policies, dashboards and buckets have no region; those of the boundaries have one. */
async function checkOtherRegions({ name, region }: Account): Promise<void> {
  const client = new IAM({ ...NETWORK, region });
  const request = { Scope: 'Local', PathPrefix: '/terraform-bootstrap/' } as const;
  const pages = await Array.fromAsync(paginateListPolicies({ client }, request));
  const boundaries = pages.flatMap(({ Policies = [] }) => Policies).map((each) => each.PolicyName);
  const other = boundaries
    .filter((each) => each?.startsWith(`${name}-develop-boundary-`))
    .map((each) => each?.slice(`${name}-develop-boundary-`.length))
    .find((each) => each !== region);
  assert(
    other === undefined,
    `the service ${name} is in ${other}, and most names have no region: give this one another "name" in bootstrap's settings`,
  );
}

async function checkBudget(AccountId: string): Promise<void> {
  try {
    await new Budgets({ ...NETWORK, region: 'us-east-1' }).describeBudgets({ AccountId });
  } catch (error) {
    const { name } = error as Error;
    throw new Error(
      `${name}: have the root user allow IAM access to Billing (Account settings), or leave out "budget"`,
      { cause: error },
    );
  }
}

/** AWS says only at the first creation that it does not allow one (aws-samples/aws-cdk-examples#279). */
async function checkCloudFront(): Promise<string> {
  const { DistributionList } = await new CloudFront(NETWORK).listDistributions({ MaxItems: 1 });
  if ((DistributionList?.Items?.length ?? 0) > 0) return 'has a distribution';
  throw new Pending(
    'not known before the first distribution: AWS Support has to verify a new account. Until then, deploy without a form (docs/deploy.md)',
  );
}

async function checkConcurrency(region: string): Promise<string> {
  const { AccountLimit } = await new Lambda({ ...NETWORK, region }).getAccountSettings({});
  const { ConcurrentExecutions: instances = 0 } = AccountLimit ?? {};
  if (instances >= INSTANCES) return `${instances} instances`;
  throw new Pending(
    `${instances} instances of all functions together: request ${INSTANCES} (Service Quotas, Lambda, Concurrent executions)`,
  );
}

async function checkSes(region: string): Promise<string> {
  const found = await new SESv2({ ...NETWORK, region }).getAccount({});
  const plan = `plan ${found.PricingAttributes?.CurrentPlan ?? 'unknown'}`;
  if (found.ProductionAccessEnabled) return plan;
  throw new Pending(
    `${plan}, sandbox: mails to verified addresses only. Before a stage has "inbox", request production access (SES, Account dashboard)`,
  );
}

export function createAccountChecks(account: Account): Check[] {
  const { accountId, region, budget, receivesMail, env } = account;
  const checks: Check[] = [
    ['Terraform is there and new enough', () => checkTerraform(env)],
    ['the service is in no other region', () => checkOtherRegions(account)],
    ['the account is not on the Free plan', () => checkPlan(env)],
    ['CloudFront may serve a form', checkCloudFront],
    ['Lambda runs enough instances', () => checkConcurrency(region)],
    ['SES may mail to everybody', () => checkSes(region)],
  ];
  if (budget) checks.push(['a budget may be set', () => checkBudget(accountId)]);
  if (receivesMail) {
    const where = RECEIVING_REGIONS.join(', ');
    const check = async (): Promise<void> =>
      assert(RECEIVING_REGIONS.includes(region), `"receives_mail" needs one of ${where}`);
    checks.push(['SES receives mails in the region', check]);
  }
  return checks.map(([title, check]) => [title, ask(check)]);
}
