import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { NETWORK } from '../../lib/aws/aws.ts';
import { assert, toEvent } from '../../lib/contract/contract-checks.ts';
import { readLive } from '../versions.ts';
import { checkMemory, createInvoke, readMetrics, type Invoke } from './invoke.ts';
import type { Check } from './run-checks.ts';

/** Invocations at the same time start new instances. */
async function checkInstances(invoke: Invoke): Promise<string> {
  const event = toEvent({ method: 'GET' });
  const found = await Promise.all([1, 2, 3].map(() => invoke(event)));
  const log = found.flatMap((each) => each.log);
  const metrics = readMetrics(log);
  assert(
    !JSON.stringify(log).includes('--expose-gc'),
    'Node runs without --expose-gc, so large bodies can end an instance: docs/adr/0062',
  );
  const memory = checkMemory(log);
  const start = Math.max(...metrics.map(({ initDurationMs = 0 }) => initDurationMs));
  return `${memory} of 128 MB, started in ${Math.round(start)} ms, with gc`;
}

/** Whether each metric filter of the function's log finds a line of an invocation. */
async function checkMetricFilters(invoke: Invoke, logGroupName: string): Promise<string> {
  const claims = { sub: crypto.randomUUID(), email: 'test@inquiries.invalid' };
  const { log } = await invoke(toEvent({ method: 'POST', body: 'no JSON' }, claims));
  readMetrics(log);
  const logEventMessages = log.map((line) => JSON.stringify(line));
  const logs = new CloudWatchLogs(NETWORK);
  const { metricFilters = [] } = await logs.describeMetricFilters({ logGroupName });
  for (const { filterName, filterPattern } of metricFilters) {
    const { matches = [] } = await logs.testMetricFilter({ filterPattern, logEventMessages });
    assert(
      matches.length > 0,
      `${filterName} finds no line of ${logGroupName}: compare its pattern with the log`,
    );
  }
  return `${metricFilters.length} filters`;
}

/** Of the live version, by its number: the roles of GitHub may not invoke the alias. */
export function createRunningChecks(name: string): Check[] {
  const invoke: Invoke = async (event) => {
    const { version } = await readLive(name);
    return createInvoke(`${name}:${version}`)(event);
  };
  return [
    ['memory and start of the function', () => checkInstances(invoke)],
    ['metric filters find their lines', () => checkMetricFilters(invoke, `/aws/lambda/${name}`)],
  ];
}
