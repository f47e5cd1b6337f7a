/** Whether the alarms of a stage see anything, and whether somebody hears them. */
import { CloudWatch, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';
import { Undecided, type Check } from './checks.ts';
import type { StageOutputs } from './outputs.ts';
import type { Plan } from './plan.ts';

/** Route 53 writes its metrics in this region only. */
const REGIONS = [undefined, 'us-east-1'];
const HOURS = 3;
/** These have data after every request; other metrics after a failure only. */
const REGULAR = new Set(['AWS/Lambda', 'AWS/ApiGateway', 'AWS/Route53']);

/** @returns The alarm's state. @throws Error, or {@link Undecided}, if its metrics have no data. */
async function check(cloudWatch: CloudWatch, alarm: MetricAlarm): Promise<string> {
  const { Metrics: queries = [] } = alarm;
  const { MetricDataResults = [] } = await cloudWatch.getMetricData({
    MetricDataQueries: queries,
    StartTime: new Date(Date.now() - HOURS * 3_600_000),
    EndTime: new Date(),
  });
  if (MetricDataResults.some(({ Values = [] }) => Values.length > 0)) return alarm.StateValue ?? '';
  const names = queries.map(({ MetricStat }) => MetricStat?.Metric?.Namespace ?? '');
  if (names.some((name) => REGULAR.has(name))) {
    throw new Error(
      `no data for ${HOURS} hours: send a request, wait for a quarter of an hour, then compare the alarm's dimensions with the metric's`,
    );
  }
  throw new Undecided('pending', `no data for ${HOURS} hours; it has some after a failure only`);
}

/**
 * Says whom the mails of alarms do not reach: nobody gets them, or an address has not confirmed yet that it wants them.
 *
 * @returns Lines; empty if there is nothing to do.
 */
export function describeReach({ subscriptions }: Pick<Plan, 'subscriptions'>): string {
  // Functions confirm nothing.
  const mails = subscriptions.filter(({ protocol }) => protocol !== 'lambda');
  if (mails.length === 0) {
    return 'Nobody gets mails of alarms: set alarm_email for the stage, and deploy again.\n';
  }
  return mails
    .filter(({ pending_confirmation: pending }) => pending !== false)
    .map(
      ({ endpoint, topic_arn: topic }) =>
        `${String(endpoint)} gets no mail of ${String(topic)} before the link in AWS's mail "Subscription Confirmation" is opened.\n`,
    )
    .join('');
}

/** @param ring - The alarm that is raised once. */
export async function createAlarmChecks(
  { function: { name } }: StageOutputs,
  ring: string | undefined,
): Promise<Map<Check[0], Check[1]>> {
  // By their names, since the stage may be in us-east-1 itself.
  const checks = new Map<Check[0], Check[1]>();
  for (const region of REGIONS) {
    const cloudWatch = new CloudWatch({ ...NETWORK, ...(region && { region }) });
    const { MetricAlarms = [] } = await cloudWatch.describeAlarms({ AlarmNamePrefix: `${name}-` });
    for (const alarm of MetricAlarms) {
      const { AlarmName = '' } = alarm;
      const raise = async (): Promise<string> => {
        const StateReason = 'npm run smoke tests whether this reaches you.';
        await cloudWatch.setAlarmState({ AlarmName, StateValue: 'ALARM', StateReason });
        return 'raised: its subscribers get a mail now, and one when its next evaluation ends it';
      };
      checks.set(AlarmName, AlarmName === ring ? raise : () => check(cloudWatch, alarm));
    }
  }
  if (ring === undefined || checks.has(ring)) return checks;
  throw new UsageError(`There is no alarm ${ring}; there are ${[...checks.keys()].join(', ')}.`);
}
