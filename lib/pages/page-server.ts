import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import sirv from 'sirv';
import { readIfThere } from '../terminal/command-line.ts';
import { replies } from '../contract/gateway-replies.ts';
import { closeServer, serve, splitTarget } from './loopback-server.ts';

export interface Content {
  type: string;
  data: string;
}

/** The source expression of an inline script or style sheet (Content-Security-Policy). */
export const hashOf = (inline: string): string =>
  `'sha256-${createHash('sha256').update(inline).digest('base64')}'`;

/**
 * Serves a folder's files by GET and HEAD, and what `find` returns.
 *
 * @param options.configure - The configuration of `find` and `policy`; without one, requests get 503.
 * @param options.policy - Directives beside those of every page.
 * @param options.allowOrigin - Access-Control-Allow-Origin of files, for a request's Origin. Default: none.
 * @param options.handle - Handles a request, or returns false.
 */
export async function startPageServer<Config>({
  port,
  folder,
  send = sirv(folder, { dev: true }), // reads files again for each request
  ...options
}: {
  port: number;
  folder: string;
  configure(): Config | undefined;
  find?(path: string, config: Config): Content | undefined;
  policy(config: Config, url: string): string[];
  allowOrigin?(origin: string | undefined): string | undefined;
  handle?(request: IncomingMessage, response: ServerResponse, url: string): boolean;
  send?:
    | ((request: IncomingMessage, response: ServerResponse, next: () => void) => void)
    | undefined;
}) {
  const server = createServer((request, response) => {
    const { rawPath } = splitTarget(request);
    const end = (status: number, headers: Record<string, string> = {}, data = '') =>
      void response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : data);
    const config = options.configure();
    if (config === undefined) return end(replies.unavailable.status);
    // Issuer and gateway know this origin; `localhost` is another.
    if (request.headers.host !== new URL(url).host) return end(302, { location: url + rawPath });
    if (options.handle?.(request, response, url)) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return end(405, { allow: 'GET, HEAD' });
    }

    const policy = ["default-src 'none'", ...options.policy(config, url)];
    policy.push("form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'");
    response.setHeader('content-security-policy', policy.join('; '));
    response.setHeader('cache-control', 'no-cache');
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('referrer-policy', 'no-referrer');
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    const content = options.find?.(rawPath, config);
    if (content !== undefined) return end(200, { 'content-type': content.type }, content.data);
    const allowed = options.allowOrigin?.(request.headers.origin);
    if (allowed !== undefined) response.setHeader('access-control-allow-origin', allowed);
    return send(request, response, () => {
      const page = readIfThere(join(folder, '404.html'));
      end(404, { 'content-type': 'text/html; charset=utf-8' }, page);
    });
  });
  const url = await serve(server, port);
  return { url, server, close: () => closeServer(server) };
}
