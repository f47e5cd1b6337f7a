/** A gradual deployment: the new version of the function gets a share of the requests while the alarms are watched. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { NETWORK } from '../lib/aws.ts';
import { makePlan } from './plan.ts';
import type { Plan, Shift } from './plan.ts';
import type { Session } from './steps.ts';
import { switchAlias } from './versions.ts';

const ALIAS = 'aws_lambda_alias.live';
const SHARE = 0.1;
const POLL_MS = 10_000;

interface Gradual {
  readonly functionName: string;
  readonly shift: Shift;
}

/** What a gradual deployment shifts; undefined if the plan gives the alias no other version, or creates it. */
export function findShift({ changes }: Plan): Gradual | undefined {
  const before = changes.find(({ address }) => address === ALIAS)?.change.before;
  if (before === null || before === undefined) return undefined;
  return {
    functionName: String(before['function_name']),
    shift: { version: String(before['function_version']), weight: SHARE },
  };
}

/** Names of the alarms of the function and the API that are firing. */
export async function listFiringAlarms(functionName: string): Promise<string[]> {
  const client = new CloudWatchClient(NETWORK);
  try {
    // Alarms are named FUNCTION-function-… and FUNCTION-api-…; a stage has fewer than the 100 of one page.
    const { MetricAlarms = [] } = await client.send(
      new DescribeAlarmsCommand({
        AlarmNamePrefix: `${functionName}-`,
        StateValue: 'ALARM',
        MaxRecords: 100,
      }),
    );
    return MetricAlarms.map(({ AlarmName = '' }) => AlarmName).filter((name) =>
      ['function', 'api'].some((part) => name.startsWith(`${functionName}-${part}`)),
    );
  } finally {
    client.destroy();
  }
}

async function watch({ interruption }: Session, functionName: string, minutes: number): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  for (;;) {
    // The alarms are read once more after the end.
    const remaining = end - performance.now();
    const firing = await listFiringAlarms(functionName);
    if (firing.length > 0) throw new Error(firing.map((name) => `Alarm ${name} is firing.`).join('\n'));
    if (remaining <= 0) return;
    await sleep(Math.min(POLL_MS, remaining), undefined, { signal: interruption });
  }
}

/**
 * Applies a plan that shifts a share of the requests to the new version, watches the alarms, and gives it all requests. If
 * anything fails, or at a signal, the version from before gets all requests again.
 */
export async function applyGradually(
  session: Session,
  apply: (plan: Plan) => Promise<void>,
  plan: Plan,
  { functionName, shift: { version, weight } }: Gradual,
  minutes: number,
): Promise<void> {
  const { stdout, stderr } = session.io;
  try {
    await apply(plan);
    stdout.write(`${weight * 100} % of the requests go to the new version for ${minutes} minutes …\n`);
    await watch(session, functionName, minutes);
    const rest = await makePlan(session, `${plan.file}-rest`);
    const others = rest.changes.filter(({ address }) => address !== ALIAS).map(({ address }) => address);
    if (others.length > 0) throw new Error(`Something else has changed meanwhile: ${others.join(', ')}.`);
    await apply(rest);
  } catch (error) {
    const result = await switchAlias(functionName, version).then(
      () => `Version ${version} of ${functionName} gets all requests again.`,
      (failure: Error) => `Version ${version} could not be given all requests again: ${failure.message}`,
    );
    stderr.write(`${result}\n`);
    throw error;
  }
}
