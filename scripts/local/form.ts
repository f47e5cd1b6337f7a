/** Serves the contact form: web/ as Vite builds it, and the config.json of the running stack. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildPage, buildPageWhenStale, outputOf } from './page-build.ts';
import { startPageServer } from './page-server.ts';

const WEB = resolve(import.meta.dirname, '../../web');

/** The form's config.json. web/README.md */
interface FormConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly apiUrl: string;
}

/** The hash of the style sheet in the page, for its policy. */
const firstPaintHash = (): string =>
  `sha256-${createHash('sha256')
    .update(readFileSync(join(WEB, 'src/first-paint.css')))
    .digest('base64')}`;

/** Builds web/dist if it is missing or older than its sources. @returns Whether it was built. */
export const buildFormWhenStale = async (): Promise<boolean> => buildPageWhenStale(WEB);

/** Builds web/dist. @throws UsageError when it cannot be written. */
export const buildForm = async (): Promise<void> => buildPage(WEB);

/**
 * Serves the form on a loopback port, with the page's own policy and the addresses of this stack. docs/adr/0053
 *
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export const startFormServer = (port: number) =>
  startPageServer<FormConfig>({
    port,
    folder: outputOf(WEB),
    openerPolicy: 'same-origin',
    find: (path, config) =>
      path === '/config.json'
        ? { type: 'application/json', data: JSON.stringify(config, null, 2) }
        : undefined,
    policy: ({ issuer, apiUrl }) => [
      `style-src 'self' '${firstPaintHash()}'`,
      "img-src 'self'",
      `connect-src 'self' ${issuer} ${apiUrl}`,
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
  });
