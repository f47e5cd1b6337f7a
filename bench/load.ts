/**
 * Loads the local stack with GET and POST at 1, 10 and 50 connections and reports requests per second and latencies.
 * Gateway, authorizer, function and engine share this machine with the load itself, without Lambda's limits: the
 * figures show that nothing breaks or queues up, not what AWS would do.
 *
 * Usage: see below. Exit codes: 0 no errors, 1 a request failed, 2 bad use.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import autocannon from 'autocannon';
import { parseOptions, runCommand } from '../scripts/cli.ts';
import { startStack } from '../scripts/local/stack.ts';
import { MESSAGE } from './database.ts';
import { describeMachine, table } from './report.ts';

const USAGE = `
Usage: npm run load -- [options]

  --quick         one second for each measurement instead of five; keeps LOAD.md

Loads dist/handler.mjs (npm run build) and writes bench/LOAD.md.
`;

const HANDLER = pathToFileURL(join(import.meta.dirname, '../dist/handler.mjs'));
const CONNECTIONS = [1, 10, 50];
/** Ends a measurement before its time is over. */
const MOST_REQUESTS = 5_000;
/** Inquiries of the user who lists. */
const LISTED = 10;

await runCommand(async () => {
  const { quick } = parseOptions(USAGE, { quick: { type: 'boolean', default: false } });
  process.stderr.write('Starting the local stack\n');
  const stack = await startStack({ handler: HANDLER, log: (line) => process.stderr.write(`${line}\n`) });
  try {
    const url = `${stack.url}/inquiries`;
    const reader = await authorize('reader@example.com');
    for (let count = 0; count < LISTED; count++) {
      await fetch(url, { method: 'POST', headers: reader, body: JSON.stringify(MESSAGE) });
    }

    const rows: string[][] = [];
    let failed = 0;
    for (const method of ['GET', 'POST'] as const) {
      for (const connections of CONNECTIONS) {
        process.stderr.write(`${method} at ${connections} connections\n`);
        const result = await autocannon({
          url,
          method,
          connections,
          duration: quick ? 1 : 5,
          maxOverallRequests: MOST_REQUESTS,
          headers: method === 'GET' ? reader : await authorize(`writer-${connections}@example.com`),
          ...(method === 'POST' && { body: JSON.stringify(MESSAGE) }),
        });
        // When its time is over, autocannon leaves requests under way.
        await sleep(1_000);
        const { latency, requests, errors, timeouts, non2xx, duration } = result;
        const bad = errors + timeouts + non2xx;
        failed += bad;
        const milliseconds = [latency.p50, latency.p90, latency.p97_5, latency.p99, latency.max];
        rows.push([
          method,
          String(connections),
          String(requests.total),
          (requests.total / duration).toFixed(0),
          ...milliseconds.map(String),
          String(bad),
        ]);
      }
    }

    const report = `# Results of \`npm run load\`

${describeMachine()}. The whole local stack (gateway with JWT authorizer, function in a worker, ${stack.engine.name}) and the
load on one machine, without Lambda's limits. GET lists ${LISTED} inquiries, POST sends one of 240 characters; at most ${MOST_REQUESTS}
requests or ${quick ? 1 : 5} seconds each. Latencies in milliseconds.

${table(['', 'connections', 'requests', 'per second', 'p50', 'p90', 'p97.5', 'p99', 'max', 'errors'], rows)}
`;
    process.stdout.write(report);
    if (!quick) writeFileSync(join(import.meta.dirname, 'LOAD.md'), report);
    if (failed > 0) throw new Error(`${failed} requests failed.`);
  } finally {
    await stack.close();
  }

  async function authorize(email: string): Promise<Record<string, string>> {
    const token = await stack.issuer.token({ email });
    return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }
});
