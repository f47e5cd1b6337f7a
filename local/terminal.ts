/** What `npm start` prints at a terminal in place of JSON lines. Colours follow NO_COLOR and the terminal (styleText). */
import { inspect, styleText } from 'node:util';
import { inquiriesPath } from '../src/contract.ts';
import type { CompletedResponse } from './gateway.ts';

/** `POST /inquiries 201 6 ms`. Other paths may hold emails and escape sequences: they are left out. */
export function formatResponse({ method, path, status, milliseconds }: CompletedResponse): string {
  const color = status < 400 ? 'green' : status < 500 ? 'yellow' : 'red';
  const shown = path === inquiriesPath ? path : '(other path)';
  const time = styleText('dim', `${Math.round(milliseconds)} ms`);
  return `${method} ${shown} ${styleText(color, String(status))} ${time}`;
}

interface LogLine {
  readonly level: string;
  readonly message: string | Readonly<Record<string, string>>;
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
  const { level, message } = JSON.parse(line) as LogLine;
  const color = level === 'ERROR' ? 'red' : level === 'WARN' ? 'yellow' : 'dim';
  const print = (text: string): string => `${styleText(color, level)} ${text}`;
  if (typeof message === 'string') return print(message);
  const { route, outcome, errorName = '' } = message;
  // The line of src/log.ts about a request.
  if (route !== undefined) {
    const { attempts } = message;
    return level === 'ERROR' ? print(`${errorName}, requests to DynamoDB: ${attempts}`) : undefined;
  }
  // The line of src/mailer/log.ts about a mail: `mail inquiry 01a1… sent`.
  if (outcome === 'already-sent') return undefined;
  if (outcome !== undefined) {
    return print(`mail ${message['mail']} ${message['inquiry']} ${outcome} ${errorName}`.trimEnd());
  }
  return print(inspect(message));
}
