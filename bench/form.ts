/**
 * Measures how fast the contact form loads, from Chromium's traces under two throttled profiles.
 *
 * Usage: npm run bench:form -- [FOLDER ...]
 *
 * Compares builds of the form: web/dist, and each FOLDER, such as the web/dist of another revision. Prints the median
 * of five loads of each. Needs Chromium. Exit codes: 0 measured, 1 failed.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { runCommand } from '../scripts/cli.ts';
import { buildFormWhenStale } from '../scripts/local/form.ts';
import { close, listen } from '../scripts/local/server.ts';
import { startStack } from '../scripts/local/stack.ts';
import type { Stack } from '../scripts/local/stack.ts';
import { launchBrowser, on } from '../tests/browser/chromium.ts';

const LOADS = 5;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
/** Latency in milliseconds for each request, bytes per second, factor by which the processor is slower. */
const PROFILES = {
  // Lighthouse's "slow 4G" with its mobile CPU, as applied to requests.
  'slow 4G, CPU / 4': { latency: 562.5, throughput: (1.6 * 1024 * 1024) / 8, cpu: 4 },
  'latency 2 s': { latency: 2_000, throughput: (10 * 1024 * 1024) / 8, cpu: 1 },
};
type Profile = (typeof PROFILES)[keyof typeof PROFILES];

interface TraceEvent {
  readonly name: string;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly data?: { readonly documentLoaderURL?: string } };
}

/** Milliseconds since the navigation began. */
interface Figures {
  /** First contentful paint. */
  readonly painted: number;
  /** The control that the page is for can be used, and no task of over 50 ms is running. */
  readonly interactive: number;
}

/** Serves a build, compressed as CloudFront does, with the config.json of the stack. */
async function serve(folder: string, config: () => object) {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').replace(/\?.*/, '').replace(/\/$/, '/index.html');
    try {
      const data = path === '/config.json' ? JSON.stringify(config()) : readFileSync(join(folder, path));
      const type = TYPES[extname(path)] ?? 'text/plain';
      response.writeHead(200, {
        'content-type': type,
        'content-encoding': 'gzip',
        'cache-control': 'no-cache',
      });
      response.end(gzipSync(data));
    } catch {
      response.writeHead(404).end();
    }
  });
  return { url: `http://127.0.0.1:${await listen(server, 0)}/`, close: () => close(server) };
}

async function throttle(session: CDPSession, { latency, throughput, cpu }: Profile): Promise<void> {
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpu });
}

/** Loads the page once without a cache, and reads the times from the trace. */
async function load(
  page: Page,
  url: string,
  profile: Profile,
  ready: (page: Page) => Promise<void>,
): Promise<Figures> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await throttle(session, profile);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => void events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: ['blink.user_timing', 'loading', 'devtools.timeline', 'toplevel'] },
    transferMode: 'ReportEvents',
  });
  await page.goto(url, { timeout: 60_000, waitUntil: 'commit' });
  await ready(page);
  await page.evaluate('performance.mark("usable")');
  const collected = once(session as unknown as NodeJS.EventEmitter, 'Tracing.tracingComplete');
  await session.send('Tracing.end');
  await collected;
  await session.detach();
  const time = (name: string, since = 0): number =>
    Math.min(...events.filter((event) => event.name === name && event.ts >= since).map(({ ts }) => ts));
  // The fetch of the document, whose navigation is recorded before its address is known.
  const start = Math.max(
    ...events
      .filter(({ name, args }) => name === 'navigationStart' && args?.data?.documentLoaderURL === url)
      .map(({ ts }) => ts),
  );
  const usable = time('usable', start);
  const tasks = events.filter(
    ({ name, dur = 0, ts }) => name === 'RunTask' && dur > 50_000 && ts > start && ts < usable,
  );
  const idle = Math.max(usable, ...tasks.map(({ ts, dur = 0 }) => ts + dur));
  return {
    painted: (time('firstContentfulPaint', start) - start) / 1_000,
    interactive: (idle - start) / 1_000,
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const signedOut = async (page: Page) => on(page).button('Sign in').waitFor({ timeout: 60_000 });
const signedIn = async (page: Page) => on(page).subject.waitFor({ timeout: 60_000 });

async function measure(context: BrowserContext, name: string, url: string): Promise<void> {
  const page = await context.newPage();
  for (const [state, ready] of [
    ['signed out', signedOut],
    ['signed in', signedIn],
  ] as const) {
    if (state === 'signed in') {
      await page.goto(url);
      await on(page).signIn('bench@example.com');
    }
    for (const [profileName, profile] of Object.entries(PROFILES)) {
      const figures: Figures[] = [];
      for (let count = 0; count < LOADS; count++) figures.push(await load(page, url, profile, ready));
      const painted = median(figures.map((one) => one.painted)).toFixed(0);
      const interactive = median(figures.map((one) => one.interactive)).toFixed(0);
      process.stdout.write(
        `${name.padEnd(24)} ${state.padEnd(11)} ${profileName.padEnd(18)} ${painted.padStart(8)} ${interactive.padStart(12)}\n`,
      );
      const session = await context.newCDPSession(page);
      await throttle(session, { latency: 0, throughput: -1, cpu: 1 });
      await session.detach();
    }
  }
  await page.close();
}

await runCommand(async () => {
  await buildFormWhenStale();
  const folders = ['web/dist', ...process.argv.slice(2)];
  let stack: Stack | undefined;
  const config = () => ({
    issuer: stack?.issuer.url,
    clientId: stack?.issuer.clientId,
    apiUrl: stack?.url,
  });
  const servers = await Promise.all(folders.map(async (folder) => serve(folder, config)));
  stack = await startStack({
    corsOrigins: servers.map(({ url }) => new URL(url).origin),
    log: () => undefined,
  });
  const browser = await launchBrowser();
  process.stdout.write(
    `Medians of ${LOADS} loads with an empty cache, ms\n\n${'build'.padEnd(24)} ${'state'.padEnd(11)} ${'profile'.padEnd(18)} ${'painted'.padStart(8)} ${'interactive'.padStart(12)}\n`,
  );
  for (const [index, folder] of folders.entries()) {
    const context = await browser.newContext({ locale: 'en-GB' });
    await measure(context, folder, servers[index]?.url ?? '');
    await context.close();
  }
  await browser.close();
  await stack.close();
  await Promise.all(servers.map(async (server) => server.close()));
});
