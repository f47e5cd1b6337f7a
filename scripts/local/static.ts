/** Static content: files, content types, headers; GET and HEAD only. */
import { readFileSync, realpathSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';

/** The content of one path. */
export interface Content {
  /** File name; its extension gives the content type. */
  readonly name: string;
  readonly data: string | Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.yaml': 'application/yaml',
};

/**
 * Reads the file that the path of a URL names in a folder. Neither dot segments nor percent-encoding nor symbolic
 * links lead out of the folder.
 *
 * @returns undefined when there is no such file, or its content type is not in the table above.
 */
export function findFile(folder: string, path: string): Content | undefined {
  if (TYPES[extname(path)] === undefined) return undefined;
  try {
    const file = realpathSync(join(folder, decodeURIComponent(path)));
    return file.startsWith(realpathSync(folder) + sep) ? { name: path, data: readFileSync(file) } : undefined;
  } catch {
    return undefined;
  }
}

/** Sends the content, 404 when it is undefined, or 405; each with `headers`. */
export function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  content: Content | undefined,
  headers: Readonly<Record<string, string>>,
): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const status = !isRead ? 405 : content === undefined ? 404 : 200;
  const { name, data } =
    status === 200 && content !== undefined
      ? content
      : { name: 'error.txt', data: status === 405 ? 'Method Not Allowed\n' : 'Not Found\n' };
  response.writeHead(status, {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-length': Buffer.byteLength(data),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(status === 405 && { allow: 'GET, HEAD' }),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : data);
}
