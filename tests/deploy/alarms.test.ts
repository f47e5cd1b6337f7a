import type { MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createAlarmChecks, describeReach } from '../../deploy/alarms.ts';
import { runChecks } from '../../deploy/checks.ts';
import { startAws } from '../helpers/aws.ts';
import { createIo } from '../helpers/io.ts';
import { FORM_OUTPUTS } from '../helpers/programs.ts';

const aws = await startAws();
beforeEach(() => aws.reset());
afterAll(() => aws.close());

/** Has AWS answer with alarms, and with data of some of their metrics. */
function arrange(alarms: readonly MetricAlarm[], metricsWithData: readonly string[]) {
  const rung: unknown[] = [];
  aws.state.answers['DescribeAlarms'] = () => ({ status: 200, body: { MetricAlarms: alarms } });
  aws.state.answers['GetMetricData'] = ({ body }) => {
    const hasData = metricsWithData.some((name) => body.includes(`"${name}"`));
    return { status: 200, body: { MetricDataResults: [{ Id: 'a', Values: hasData ? [1] : [] }] } };
  };
  aws.state.answers['SetAlarmState'] = ({ body }) => {
    rung.push(JSON.parse(body));
    return { status: 200, body: {} };
  };
  return rung;
}
const alarm = (AlarmName: string, Namespace: string, MetricName: string): MetricAlarm => ({
  AlarmName,
  Namespace,
  MetricName,
  StateValue: 'OK',
});
const ALARMS = [
  alarm('inquiries-develop-errors', 'AWS/Lambda', 'Errors'),
  alarm('inquiries-develop-duration', 'AWS/Lambda', 'Duration'),
  alarm('inquiries-develop-bounces', 'AWS/SES', 'Bounce'),
];

async function check(ring?: string): Promise<string[]> {
  const { io, stdout } = createIo();
  const checks = await createAlarmChecks(FORM_OUTPUTS, ring);
  await runChecks(checks, io, new AbortController().signal);
  return stdout()
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, '  '));
}

it('--check-alarms tells an alarm that sees nothing from one that has data after a failure only, once in each region', async () => {
  arrange(ALARMS, ['Errors']);
  expect(await check()).toEqual([
    'passed  inquiries-develop-errors  OK',
    expect.stringMatching(/^failed {2}inquiries-develop-duration {2}no data for 3 hours: send/),
    'pending  inquiries-develop-bounces  no data for 3 hours; it has some after a failure only',
  ]);
});

it('--ring raises one alarm, and names those that there are instead of one that there is not', async () => {
  const rung = arrange(ALARMS, []);
  expect((await check('inquiries-develop-errors')).at(-1)).toMatch(/^passed {2}ring /);
  expect(rung).toMatchObject([{ AlarmName: 'inquiries-develop-errors', StateValue: 'ALARM' }]);
  await expect(check('errors')).rejects.toThrow(
    'There is no alarm errors; there are inquiries-develop-errors, ',
  );
  expect(rung).toHaveLength(1);
});

const subscription = (topic: string, endpoint: string, pending_confirmation?: boolean) => ({
  protocol: 'email',
  topic_arn: `arn:aws:sns:eu-central-1:111122223333:${topic}`,
  endpoint,
  ...(pending_confirmation !== undefined && { pending_confirmation }),
});

it.each([
  [[], 'Alarms reach nobody'],
  [['arn:aws:sns:…:pager'], 'Alarms that page nobody, such as bounces, reach nobody'],
])(
  'a deployment without alarm_email, whose alarms have the actions %j, says: %s',
  (actions, text) => {
    const subscriptions = [{ ...subscription('bounces', 'arn:…'), protocol: 'lambda' }];
    expect(describeReach({ subscriptions, alarms: [{ alarm_actions: actions }] })).toBe(
      `${text}: set alarm_email for the stage, and deploy again.\n`,
    );
  },
);

it('subscriptions that are new or not confirmed yet are named, and others are not', () => {
  const confirmed = subscription('alarms', 'ana@example.com', false);
  const subscriptions = [
    subscription('alarms', 'oncall@example.com', true),
    confirmed,
    subscription('form', 'team@example.com'),
  ];
  expect(describeReach({ subscriptions, alarms: [] }).split('\n')).toEqual([
    expect.stringMatching(/^oncall@example\.com gets no mail of the topic alarms before /),
    expect.stringMatching(/^team@example\.com gets no mail of the topic form before /),
    '',
  ]);
  expect(describeReach({ subscriptions: [confirmed], alarms: [] })).toBe('');
});
