import { CloudWatch, type MetricAlarm } from '@aws-sdk/client-cloudwatch';
import { NETWORK } from '../lib/aws/aws.ts';
import { Pending, type Check } from './checks.ts';

const HOURS = 3;
/** Have data after every request. */
const REGULAR = /"AWS\/(Lambda|ApiGateway|Route53)"/;

/** @returns Its state. @throws Error, or {@link Pending}, if its metrics have no data. */
async function check(cloudWatch: CloudWatch, alarm: MetricAlarm): Promise<string> {
  const { Metrics: MetricDataQueries = [], StateValue = '' } = alarm;
  const EndTime = new Date();
  const StartTime = new Date(Number(EndTime) - HOURS * 3_600_000);
  const { MetricDataResults: results = [] } = await cloudWatch.getMetricData({
    MetricDataQueries,
    StartTime,
    EndTime,
  });
  if (results.some(({ Values = [] }) => Values.length > 0)) return StateValue;
  const lack = `no data for ${HOURS} hours`;
  if (!REGULAR.test(JSON.stringify(MetricDataQueries))) {
    throw new Pending(`${lack}; it has some after a failure only`);
  }
  throw new Error(
    `${lack}: send a request, wait for a quarter of an hour, then compare the alarm's dimensions with the metric's`,
  );
}

/** @param name - The function's, with which alarms' names begin. */
export async function createAlarmChecks(name: string, region: string): Promise<Check[]> {
  // Route 53 writes metrics in us-east-1 only.
  const regions = [...new Set([region, 'us-east-1'])];
  const checks = regions.map(async (each) => {
    const cloudWatch = new CloudWatch({ ...NETWORK, region: each });
    const { MetricAlarms = [] } = await cloudWatch.describeAlarms({ AlarmNamePrefix: `${name}-` });
    return MetricAlarms.map((alarm): Check => [
      alarm.AlarmName ?? '',
      () => check(cloudWatch, alarm),
    ]);
  });
  return (await Promise.all(checks)).flat();
}
