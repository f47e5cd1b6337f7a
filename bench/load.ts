/**
 * Loads the local stack with GET and POST at 1, 10 and 50 connections and reports requests per second and latencies.
 * Gateway, authorizer, function, engine and load share one machine, without Lambda's limits: the figures show whether
 * requests fail or queue up, not the performance on AWS.
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

  --quick         one second for each measurement instead of five; LOAD.md is not written

Loads dist/handler.mjs (npm run build) and writes bench/LOAD.md.
`;
const HANDLER = pathToFileURL(join(import.meta.dirname, '../dist/handler.mjs'));
/** A measurement ends after so many requests. */
const REQUEST_LIMIT = 5_000;
const LISTED = 10;

await runCommand(async () => {
  const { quick } = parseOptions(USAGE, { quick: { type: 'boolean', default: false } });
  const seconds = quick ? 1 : 5;
  const stack = await startStack({ handler: HANDLER, log: (line) => process.stderr.write(`${line}\n`) });
  try {
    const authorize = async (email: string): Promise<Record<string, string>> => {
      const token = await stack.issuer.token({ email });
      return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    };
    const url = `${stack.url}/inquiries`;
    const body = JSON.stringify(MESSAGE);
    const reader = await authorize('reader@example.com');
    for (let count = 0; count < LISTED; count++) await fetch(url, { method: 'POST', headers: reader, body });

    const rows: (string | number)[][] = [];
    let failed = 0;
    for (const method of ['GET', 'POST'] as const) {
      for (const connections of [1, 10, 50]) {
        process.stderr.write(`${method} at ${connections} connections\n`);
        const { latency, requests, errors, timeouts, non2xx, duration } = await autocannon({
          url,
          method,
          connections,
          duration: seconds,
          maxOverallRequests: REQUEST_LIMIT,
          headers: method === 'GET' ? reader : await authorize(`writer-${connections}@example.com`),
          ...(method === 'POST' && { body }),
        });
        // When its time is over, autocannon leaves requests under way.
        await sleep(1_000);
        const bad = errors + timeouts + non2xx;
        failed += bad;
        const latencies = [latency.p50, latency.p90, latency.p97_5, latency.p99, latency.max];
        rows.push([
          method,
          connections,
          requests.total,
          Math.round(requests.total / duration),
          ...latencies,
          bad,
        ]);
      }
    }

    const report = `# Results of \`npm run load\`

${describeMachine()}. The local stack (gateway with JWT authorizer, function, ${stack.engine.name}) and the load on
one machine, without Lambda's limits. GET lists ${LISTED} inquiries, POST sends 240 characters; each measurement ends after
${REQUEST_LIMIT.toLocaleString('en')} requests or ${seconds} seconds. Latencies in milliseconds.

${table(['', 'connections', 'requests', 'per second', 'p50', 'p90', 'p97.5', 'p99', 'max', 'errors'], rows)}
`;
    process.stdout.write(report);
    if (!quick) writeFileSync(join(import.meta.dirname, 'LOAD.md'), report);
    if (failed > 0) throw new Error(`${failed} requests failed.`);
  } finally {
    await stack.close();
  }
});
