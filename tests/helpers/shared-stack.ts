/** The process of the browser tests' shared stack, which ends with its parent. */
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKey } from '../../lib/issuer-keys.ts';
import { buildPageWhenStale } from '../../lib/page-build.ts';
import { WEB } from '../../lib/paths.ts';
import { startStack } from '../../local/stack.ts';

export type SharedStack = typeof shared;

const folder = mkdtempDisposableSync(join(tmpdir(), 'inquiries-browser-'));
const keysFile = join(folder.path, 'issuer-keys.json');
await buildPageWhenStale(WEB);
const stack = await startStack({ keysFile, log: () => undefined });
const { state, docsUrl, demoUrl, engine, issuer } = stack;
const shared = {
  url: state.gateway,
  formUrl: state.form,
  docsUrl,
  demoUrl,
  tableName: state.table,
  engine: { name: engine.name, url: engine.url },
  issuer: { url: issuer.url, clientId: issuer.clientId },
  key: await readKey(keysFile),
};
process.on('disconnect', () => void stack.close().then(folder.remove));
process.send?.(shared);
