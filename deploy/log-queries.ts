import { setTimeout as sleep } from 'node:timers/promises';
import { CloudWatchLogs } from '@aws-sdk/client-cloudwatch-logs';
import { createTarget, describeFailure, NETWORK } from '../lib/aws/aws.ts';

/** Log groups by what writes them; NAME is the API's function. */
const GROUPS = {
  function: ['/aws/lambda/NAME'],
  gateway: ['/aws/vendedlogs/apigateway/NAME'],
  mailer: ['/aws/lambda/NAME-mailer', '/aws/lambda/NAME-mailer-replies'],
  receiver: ['/aws/lambda/NAME-receiver'],
};
export type LogGroup = keyof typeof GROUPS;

const FAILED = 'filter type = "platform.report" and record.status != "success"';
const BY_ERROR = 'stats count(*) as lines by message.outcome, message.errorName';

/** What the log says about an alarm, by the alarm's name in docs/runbook.md. */
export const QUERIES: Readonly<Record<string, readonly [LogGroup, string]>> = {
  'function-errors': ['function', `${FAILED} | stats count(*) as invocations by record.status`],
  'function-faults': [
    'function',
    'filter level = "ERROR" | stats count(*) as lines by message.errorName',
  ],
  'function-duration': [
    'gateway',
    'stats max(integrationLatency) as slowest, max(responseLength) as longest, count(*) as requests by routeKey',
  ],
  'function-memory': [
    'function',
    'filter type = "platform.report" | stats max(record.metrics.maxMemoryUsedMB) as megabytes by bin(1h) as hour | sort hour',
  ],
  'api-5xx-rate': [
    'gateway',
    'filter status like /^5/ | stats count(*) as requests by status, integrationError, routeKey',
  ],
  'api-throttles': ['gateway', 'stats count(*) as requests by routeKey, status'],
  'issuer-outage': [
    'gateway',
    'filter status = "401" | stats count(*) as requests by authorizerError, functionRequestId = "-" as by_the_gateway',
  ],
  'index-throttles': [
    'function',
    'filter ispresent(message.throttlingReasons) | stats count(*) as lines by message.errorName, message.throttlingReasons.0',
  ],
  'mailer-errors': ['mailer', `${FAILED} | stats count(*) as invocations by record.status`],
  'mailer-failures': ['mailer', `filter ispresent(message.errorName) | ${BY_ERROR}`],
  'mailer-refused': [
    'mailer',
    'filter message.outcome in ["refused", "no-address", "undelivered"] | display message.inquiry, message.mail, message.outcome, message.errorName',
  ],
};

/** Milliseconds; Insights gives up after an hour. */
const PATIENCE = 60_000;

/**
 * Runs a query of CloudWatch Logs Insights.
 *
 * @param name - The function's.
 * @returns Rows of at most 1,000, without the pointer to the whole line.
 * @throws Error if the query fails, or is not complete within a minute.
 */
export async function queryLogs(
  name: string,
  group: LogGroup,
  query: string,
  hours: number,
): Promise<Record<string, string>[]> {
  const logs = new CloudWatchLogs(NETWORK);
  const logGroupNames = GROUPS[group].map((each) => each.replace('NAME', name));
  const end = Math.ceil(Date.now() / 1_000);
  const read = async () => {
    const { queryId } = await logs.startQuery({
      logGroupNames,
      queryString: query,
      startTime: end - hours * 3_600,
      endTime: end,
      limit: 1_000,
    });
    for (let waited = 0; waited < PATIENCE; waited += 1_000) {
      const { status, results = [] } = await logs.getQueryResults({ queryId });
      if (status === 'Complete') return results;
      if (status !== 'Running' && status !== 'Scheduled') {
        throw new Error(`The query of ${logGroupNames.join()} ended as ${status}; run it again.`);
      }
      await sleep(1_000);
    }
    throw new Error(
      `The query of ${logGroupNames.join()} takes more than a minute; pass fewer --hours.`,
    );
  };
  const target = {
    ...createTarget({ stage: name }),
    missing: `The log group ${logGroupNames.join(' or ')} does not exist in this account and region; deploy the stage, or look at the region of the credentials.`,
    policy: 'the policy of people on call (docs/roles.md)',
  };
  const results = await read().catch((error: unknown) => {
    throw describeFailure(error, target);
  });
  return results.map((fields) =>
    Object.fromEntries(
      fields
        .filter(({ field }) => field !== '@ptr')
        .map(({ field = '', value = '' }) => [field.replace(/^(message|record)\./, ''), value]),
    ),
  );
}
