/** `npm run deploy -- STAGE --gradual MINUTES`. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeployment, FORM_OUTPUTS } from '../helpers/deployment.ts';
import type { Change, Deployment, World } from '../helpers/deployment.ts';

const alias: Change = {
  address: 'aws_lambda_alias.live',
  actions: ['update'],
  before: { function_name: 'inquiries-develop', function_version: '3' },
};
const functionChange: Change = { address: 'aws_lambda_function.this', actions: ['update'] };

let deployment: Deployment;
const arrange = (world: Partial<World> = {}) =>
  deployment.arrange({ outputs: FORM_OUTPUTS, changes: [functionChange, alias], rest: [alias], ...world });
beforeEach(async () => {
  deployment = await createDeployment();
  arrange();
});
afterEach(() => deployment.remove());

/** The plans, what was applied, and what became of the alias. */
const steps = () =>
  deployment
    .calls()
    .filter((call) => /^(terraform (plan|apply)|switch)/.test(call))
    .map((call) => call.replace(/\S*\/(plan\S*)/, '$1').replace('-no-color ', ''));
const shifted = ' with shift {"version":"3","weight":0.1}';
const plans = ['terraform plan plan', `terraform plan plan${shifted}`];

describe('npm run deploy --gradual', { timeout: 30_000 }, () => {
  it('gives the new version a share of the requests, then all of them', async () => {
    const { code, output } = await deployment.run('develop --yes --gradual 0.001');
    expect([code, steps()]).toEqual([
      0,
      [...plans, 'terraform apply plan', 'terraform plan plan-rest', 'terraform apply plan-rest'],
    ]);
    expect(output).toContain('10 % of the requests go to the new version for 0.001 minutes …\n');
  });

  it.each(['inquiries-develop-function-errors', 'inquiries-develop-api-5xx-rate'])(
    'gives the version before all requests again if %s rings',
    async (alarm) => {
      deployment.aws.ringing = [[], [], [alarm]];
      const { code, output } = await deployment.run('develop --yes --gradual 0.001');
      expect([code, steps()]).toEqual([1, [...plans, 'terraform apply plan', 'switch inquiries-develop 3']]);
      expect(output).toContain('Version 3 of inquiries-develop gets all requests again.\n');
      expect(output).toContain(`Rings: ${alarm}.\n`);
    },
  );

  it('does not mind alarms of other parts', async () => {
    deployment.aws.ringing = [['inquiries-develop-mailer-errors']];
    expect((await deployment.run('develop --yes --gradual 0.001')).code).toBe(0);
  });

  it('refuses if an alarm rings before', async () => {
    deployment.aws.ringing = [['inquiries-develop-function-errors']];
    const { code, output } = await deployment.run('develop --yes --gradual 5');
    expect([code, steps()]).toEqual([2, plans]);
    expect(output).toContain(
      'they ring already: inquiries-develop-function-errors. Deploy without --gradual.',
    );
  });

  it.each<[string, Partial<World>, string]>([
    ['the first apply fails', { failing: 'terraform apply' }, 'it went wrong'],
    [
      'the second plan changes more than the alias',
      { rest: [alias, functionChange] },
      'Something else has changed meanwhile: aws_lambda_function.this.',
    ],
  ])('goes back if %s', async (_, world, message) => {
    arrange(world);
    const { code, output } = await deployment.run('develop --yes --gradual 0.001');
    expect([code, steps().at(-1)]).toEqual([1, 'switch inquiries-develop 3']);
    expect(output).toContain(message);
  });

  it.each<[string, readonly Change[]]>([
    ['there is no version yet', [functionChange, { address: alias.address, actions: ['create'] }]],
    ['the function does not change', [{ address: 'aws_sns_topic.alarms', actions: ['update'] }]],
  ])('applies the plan at once if %s', async (_, changes) => {
    arrange({ changes });
    const { code } = await deployment.run('develop --yes --gradual 5');
    expect([code, steps()]).toEqual([0, ['terraform plan plan', 'terraform apply plan']]);
  });
});
