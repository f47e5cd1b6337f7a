/** What `npm start` prints at a terminal in place of JSON lines. Colours follow NO_COLOR and the terminal (styleText). */
import { inspect, styleText } from 'node:util';
import type { CompletedResponse } from './gateway.ts';

/** `POST /inquiries 201 6 ms`. Paths with characters that emails and escape sequences need are left out. */
export function formatResponse({ method, path, status, milliseconds }: CompletedResponse): string {
  const color = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const shownPath = /^[\w/.-]{1,60}$/.test(path) ? path : '(other path)';
  const time = styleText('dim', `${Math.round(milliseconds)} ms`);
  return `${method} ${shownPath} ${styleText(color, String(status))} ${time}`;
}

/**
 * Formats a line that a function or the gateway logs.
 *
 * @returns undefined for metrics, for requests without an internal error, which `formatResponse` covers, and for mails
 * that were sent before: after a start, the mailer gets all records of the stream again.
 */
export function formatLogLine(line: string): string | undefined {
  if (line.startsWith('{"_aws":')) return undefined;
  if (!line.startsWith('{"timestamp":')) return line;
  const { level, message } = JSON.parse(line) as { level: string; message: unknown };
  const prefix = styleText(level === 'ERROR' ? 'red' : level === 'WARN' ? 'yellow' : 'dim', level);
  // The line of src/log.ts about a request.
  if (typeof message === 'object' && message !== null && 'route' in message) {
    const { errorName, attempts } = message as unknown as Record<string, string>;
    return level === 'ERROR'
      ? `${prefix} ${errorName}, requests to DynamoDB: ${attempts}`
      : undefined;
  }
  // The line of src/mailer/log.ts about a mail: `mail inquiry 01a1… sent`.
  if (typeof message === 'object' && message !== null && 'outcome' in message) {
    const { inquiry, mail, outcome, errorName } = message as unknown as Record<string, string>;
    if (outcome === 'already-sent') return undefined;
    const text = `mail ${mail} ${inquiry} ${outcome}${errorName === undefined ? '' : `, ${errorName}`}`;
    return level === 'INFO' ? text : `${prefix} ${text}`;
  }
  return `${prefix} ${typeof message === 'string' ? message : inspect(message)}`;
}
