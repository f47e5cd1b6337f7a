/** Whether the alarms of a stage see anything, and whether somebody hears them. */
import { CloudWatch, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';
import { Pending, type Check } from './checks.ts';
import type { StageOutputs } from './outputs.ts';
import type { Plan } from './plan.ts';

/** Route 53 writes its metrics in this region only. */
const REGIONS = [undefined, 'us-east-1'];
const HOURS = 3;
/** These have data after every request; other metrics after a failure only. */
const REGULAR = new Set(['AWS/Lambda', 'AWS/ApiGateway', 'AWS/Route53']);

const toQueries = ({
  Metrics,
  Namespace,
  MetricName,
  Dimensions = [],
  Period = 300,
  Statistic = 'Sum',
}: MetricAlarm) =>
  Metrics ?? [
    {
      Id: 'metric',
      MetricStat: { Metric: { Namespace, MetricName, Dimensions }, Period, Stat: Statistic },
    },
  ];

async function check(cloudWatch: CloudWatch, alarm: MetricAlarm): Promise<string> {
  const queries = toQueries(alarm);
  const EndTime = new Date();
  const { MetricDataResults = [] } = await cloudWatch.getMetricData({
    MetricDataQueries: queries,
    StartTime: new Date(EndTime.getTime() - HOURS * 3_600_000),
    EndTime,
  });
  if (MetricDataResults.some(({ Values = [] }) => Values.length > 0)) return alarm.StateValue ?? '';
  const message = `no data for ${HOURS} hours`;
  const isRegular = queries.some(({ MetricStat }) =>
    REGULAR.has(MetricStat?.Metric?.Namespace ?? ''),
  );
  if (!isRegular) throw new Pending(`${message}; it has some after a failure only`);
  throw new Error(
    `${message}: send a request, wait for a quarter of an hour, then compare the alarm's dimensions with the metric's`,
  );
}

/**
 * Says whom the alarms of a stage do not reach: nobody hears them, or nobody those that page nobody, or an address has not
 * confirmed yet that it wants them.
 *
 * @returns Lines; empty if there is nothing to do.
 */
export function describeReach({ subscriptions, alarms }: Pick<Plan, 'subscriptions' | 'alarms'>) {
  // Functions confirm nothing.
  const mails = subscriptions.filter(({ protocol }) => protocol !== 'lambda');
  if (mails.length === 0) {
    const isPaged = alarms.some(({ alarm_actions: actions }) => [actions].flat().length > 0);
    const whose = isPaged ? 'Alarms that page nobody, such as bounces,' : 'Alarms';
    return `${whose} reach nobody: set alarm_email for the stage, and deploy again.\n`;
  }
  return mails
    .filter(({ pending_confirmation: pending }) => pending !== false)
    .map(
      ({ endpoint, topic_arn: topic }) =>
        `${String(endpoint)} gets no mail of the topic ${String(topic).split(':').at(-1)} before the link in AWS's mail "Subscription Confirmation" is opened.\n`,
    )
    .join('');
}

/** @param ring - The alarm that is raised once. */
export async function createAlarmChecks(
  { function: { name } }: StageOutputs,
  ring: string | undefined,
): Promise<Check[]> {
  const lists = await Promise.all(
    REGIONS.map(async (region) => {
      const cloudWatch = new CloudWatch({ ...NETWORK, ...(region && { region }) });
      const { MetricAlarms = [] } = await cloudWatch.describeAlarms({
        AlarmNamePrefix: `${name}-`,
      });
      return MetricAlarms.map((alarm) => ({ cloudWatch, alarm, title: alarm.AlarmName ?? '' }));
    }),
  );
  // The stage may be in us-east-1 itself.
  const alarms = [...new Map(lists.flat().map((each) => [each.title, each])).values()];
  const checks = alarms.map(({ cloudWatch, alarm, title }) => ({
    title,
    run: () => check(cloudWatch, alarm),
  }));
  if (ring === undefined) return checks;
  const found = alarms.find(({ title }) => title === ring);
  if (found === undefined) {
    throw new UsageError(
      `There is no alarm ${ring}; there are ${alarms.map(({ title }) => title).join(', ')}.`,
    );
  }
  const raise = async (): Promise<string> => {
    const StateReason = 'npm run smoke tests whether this reaches you.';
    await found.cloudWatch.setAlarmState({ AlarmName: ring, StateValue: 'ALARM', StateReason });
    return 'raised: its subscribers get a mail now, and one when its next evaluation ends it';
  };
  return [...checks, { title: `ring ${ring}`, run: raise }];
}
