import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { createAccountChecks } from '../../deploy/checks/account.ts';
import { runChecks } from '../../deploy/checks/run-checks.ts';
import { run as runInProcess } from '../local/io.ts';
import { ACCOUNT, refusal, startAws, stubAws } from '../local/aws.ts';

const cli = vi.hoisted(() => vi.fn<() => Promise<object>>());
vi.mock(import('../../lib/terminal/run.ts'), async () => ({ run: cli as never }));
vi.mock(import('../../deploy/terraform.ts'), async (original) => ({
  ...(await original()),
  terraformUnavailableReason: async () => undefined,
}));

const { state, env, reset, close } = await startAws();
afterAll(close);
beforeEach(() => {
  reset();
  stubAws(env);
  cli.mockResolvedValue({ code: 127, stdout: '' });
});

const answer = (answers: Record<string, object | string>): void => {
  for (const [action, body] of Object.entries(answers)) {
    state.answers[action] = () => ({ status: 200, body });
  }
};
const policies = (region: string) =>
  `<R><ListPoliciesResult><Policies><member><PolicyName>inquiries-develop-boundary-${region}</PolicyName></member></Policies></ListPoliciesResult></R>`;
const answerPlan = (plan: object) =>
  cli.mockResolvedValue({ code: 0, stdout: JSON.stringify(plan) });

const ACCOUNTS: Record<string, { settings?: object; happen: () => unknown }> = {
  'an account that has all': {
    settings: { budget: {}, receivesMail: true },
    happen: () => {
      answerPlan({ accountPlanType: 'PAID' });
      answer({
        ListPolicies: policies('eu-central-1'),
        'GET /2020-05-31/distribution':
          '<DistributionList><Items><DistributionSummary><Id>E1</Id></DistributionSummary></Items></DistributionList>',
        'GET /2016-08-19/account-settings': { AccountLimit: { ConcurrentExecutions: 1000 } },
        'GET /v2/email/account': {
          ProductionAccessEnabled: true,
          PricingAttributes: { CurrentPlan: 'ESSENTIALS' },
        },
        DescribeBudgets: {},
      });
    },
  },
  'a new account, in another region too, without access to Billing': {
    settings: { budget: {}, receivesMail: true, region: 'eu-west-3' },
    happen: () => {
      answerPlan({ accountPlanType: 'FREE', accountPlanExpirationDate: '2027-05-28T00:00:00Z' });
      answer({
        ListPolicies: policies('eu-central-1'),
        'GET /2020-05-31/distribution': '<DistributionList/>',
        'GET /2016-08-19/account-settings': { AccountLimit: { ConcurrentExecutions: 10 } },
        'GET /v2/email/account': { ProductionAccessEnabled: false },
      });
      state.answers['DescribeBudgets'] = () => refusal(400, 'AccessDeniedException', 'no');
    },
  },
  'an account that answers nothing': { happen: () => {} },
};
it.each(Object.entries(ACCOUNTS))('%s', async (_, { settings = {}, happen }) => {
  happen();
  const account = {
    accountId: ACCOUNT,
    region: 'eu-central-1',
    name: 'inquiries',
    receivesMail: false,
    env: {},
    ...settings,
  };
  const main = async (_args: string[], io: Parameters<typeof runChecks>[1]['io']) => {
    await runChecks(createAccountChecks(account), {
      io,
      interruption: new AbortController().signal,
    });
  };
  const { stdout } = await runInProcess(main, '');
  expect(stdout.replaceAll(/ +\d+ ms$/gm, '')).toMatchSnapshot();
});
