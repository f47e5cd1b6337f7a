/** Starts the browser tests' shared stack. Each test has its own users. */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readKey } from '../../lib/issuer/issuer-keys.ts';
import { startStack } from '../../local/stack.ts';
import { whyNoFirefox } from './firefox.ts';
import { whyNoBrowser } from './installed-chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent without a browser. */
    stack: Awaited<ReturnType<typeof start>>['provided'];
  }
}

async function start() {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'inquiries-browser-'));
  const keysFile = join(folder.path, 'issuer-keys.json');
  const stack = await startStack({ keysFile, log: () => undefined });
  const { state, docsUrl, demoUrl, engine, issuer } = stack;
  const provided = {
    url: state.gateway,
    formUrl: state.form,
    inboxUrl: state.inbox,
    docsUrl,
    demoUrl,
    tableName: state.table,
    engineUrl: engine.url,
    issuer: { url: issuer.url, clientId: issuer.clientId },
    key: readKey(keysFile),
  };
  return { provided, close: () => stack.close().then(folder.remove) };
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (whyNoBrowser !== undefined && whyNoFirefox !== undefined) return undefined;
  const { provided, close } = await start();
  project.provide('stack', provided);
  return close;
}
