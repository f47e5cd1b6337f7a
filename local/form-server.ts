/** docs/adr/0017 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ViteDevServer } from 'vite';
import { outputOf, startLivePage } from '../lib/page-build.ts';
import { ROOT, WEB } from '../lib/paths.ts';
import { hashOf, startPageServer } from '../lib/page-server.ts';

/** web/README.md */
interface FormConfig extends Record<string, unknown> {
  issuer: string;
  clientId: string;
  apiUrl: string;
}

const hashOfFile = (file: string): string => hashOf(readFileSync(join(ROOT, file), 'utf8'));

/**
 * @param options.embedders - Origins that may load the custom element's sources; the built one is open to any.
 * @param options.live - Serves the sources with Vite.
 */
export async function startFormServer(
  port: number,
  {
    live,
    embedders,
    configure,
  }: {
    live: boolean;
    embedders: readonly string[];
    configure(): FormConfig | undefined;
  },
) {
  let vite: ViteDevServer | undefined;
  const page = await startPageServer<FormConfig>({
    port,
    folder: outputOf(WEB),
    configure,
    find: (path, config) =>
      path === '/config.json'
        ? { type: 'application/json', data: JSON.stringify(config, null, 2) }
        : undefined,
    policy: ({ issuer, apiUrl }, url) => [
      "img-src 'self'",
      ...(live
        ? [
            "script-src 'self'",
            "style-src 'self'",
            `connect-src 'self' ${issuer} ${apiUrl} ${url.replace('http', 'ws')}`,
            // Vite's client needs both.
            "style-src-elem 'self' 'unsafe-inline'",
            'worker-src blob:',
          ]
        : [
            `script-src 'self' ${hashOfFile('web/src/first-paint.js')}`,
            `style-src 'self' ${hashOfFile('ui/first-paint.css')}`,
            `connect-src 'self' ${issuer} ${apiUrl}`,
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
          ]),
    ],
    allowOrigin: (origin) => (live ? embedders.find((one) => one === origin) : '*'),
    send: live
      ? (request, response, next) => {
          if (request.url === '/inquiry-form.js') request.url = '/src/element.ts';
          vite?.middlewares(request, response, next);
        }
      : undefined,
  });
  if (live) vite = await startLivePage(WEB, page.server);
  return {
    url: page.url,
    async close(): Promise<void> {
      await vite?.close();
      await page.close();
    },
  };
}
