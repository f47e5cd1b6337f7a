import { afterAll, beforeEach, expect, it } from 'vitest';
import { createAlarmChecks, describeReach } from '../../deploy/alarms.ts';
import { runChecks } from '../../deploy/checks.ts';
import { startAws } from '../helpers/aws.ts';
import { createIo } from '../helpers/io.ts';
import { FORM_OUTPUTS } from '../helpers/programs.ts';

const aws = await startAws();
afterAll(() => aws.close());

/** What AWS got of SetAlarmState. */
const rung: unknown[] = [];
beforeEach(() => {
  aws.reset();
  rung.length = 0;
  const MetricAlarms = ['Lambda Errors', 'Lambda Duration', 'SES Bounce'].map((each) => {
    const [service, MetricName] = each.split(' ');
    const Metric = { Namespace: `AWS/${service}`, MetricName };
    return {
      AlarmName: `inquiries-develop-${MetricName}`,
      Metrics: [{ Id: 'metric', MetricStat: { Metric } }],
      StateValue: 'OK',
    };
  });
  aws.state.answers['DescribeAlarms'] = () => ({ status: 200, body: { MetricAlarms } });
  // Errors have data.
  aws.state.answers['GetMetricData'] = ({ body }) => {
    const Values = body.includes('"Errors"') ? [1] : [];
    return { status: 200, body: { MetricDataResults: [{ Id: 'metric', Values }] } };
  };
  aws.state.answers['SetAlarmState'] = ({ body }) => {
    rung.push(JSON.parse(body));
    return { status: 200, body: {} };
  };
});

async function check(ring?: string): Promise<string> {
  const { io, stdout } = createIo();
  await runChecks(await createAlarmChecks(FORM_OUTPUTS, ring), io, AbortSignal.any([]));
  return stdout().replaceAll(/ {2,}/g, '  ');
}

it('--check-alarms tells an alarm that sees nothing from one that has data after a failure only, once in each region', async () => {
  expect(await check()).toMatch(
    /^passed {2}inquiries-develop-Errors {2}OK\nfailed {2}inquiries-develop-Duration {2}no data for 3 hours: send .*\npending {2}inquiries-develop-Bounce {2}no data for 3 hours; it has some after a failure only\n$/,
  );
});

it('--ring raises one alarm, and names those that there are instead of one that there is not', async () => {
  expect(await check('inquiries-develop-Bounce')).toContain('inquiries-develop-Bounce  raised: ');
  await expect(check('errors')).rejects.toThrow(
    'There is no alarm errors; there are inquiries-develop-Errors, ',
  );
  expect(rung).toMatchObject([{ AlarmName: 'inquiries-develop-Bounce', StateValue: 'ALARM' }]);
});

const subscription = (endpoint: string, pending_confirmation?: boolean, protocol = 'email') => ({
  protocol,
  topic_arn: 'arn:aws:sns:eu-central-1:111122223333:alarms',
  endpoint,
  pending_confirmation,
});
it.each([
  ['nobody', [subscription('arn:…', false, 'lambda')], /^Nobody gets mails of alarms: .*\n$/],
  [
    'an address that is new or not confirmed yet',
    [subscription('a@example.com'), subscription('b@example.com', true)],
    /^a@example\.com gets no mail of arn:.*:alarms before .*\nb@example\.com gets .*\n$/,
  ],
  ['no address that is confirmed', [subscription('a@example.com', false)], /^$/],
])('a deployment says that mails of alarms reach: %s', (_, subscriptions, text) => {
  expect(describeReach({ subscriptions })).toMatch(text);
});
