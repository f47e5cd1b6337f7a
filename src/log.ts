import { ApiError } from './errors.ts';

/** What is known of a request when it is answered. */
export interface CompletedRequest {
  readonly requestId: string | undefined;
  /** Lambda's name of the function: what the metrics of one stage are told from another's by. */
  readonly functionName: string | undefined;
  readonly method: unknown;
  readonly status: number;
  readonly milliseconds: number;
  /** How often the database was asked, retries and pages counted. */
  readonly attempts: number;
  /** What was thrown, when the status is an error. */
  readonly error?: unknown;
}

/** What error classes and codes are called. Anything else could be text from outside. */
const NAME = /^[A-Za-z]\w{0,63}$/;
const METHODS = new Set<unknown>(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const ROUTE = '/inquiries';

/**
 * Logs one line about a request: what was asked and how it went, and nothing of its content. Of an error there is the
 * name, nothing of its message, stack or properties, which may hold tokens, emails and bodies. An answer other than a
 * success is the client's mistake and a warning when we say so by an {@link ApiError}, a body that is not JSON
 * included; everything else is a fault of ours and an error, which is what the alarms count. docs/adr/0023
 *
 * Lambda's JSON log format wraps the object in one line with timestamp and level.
 *
 * @param writeMetrics - Receives the same request as one line of metrics (CloudWatch's embedded metric format).
 * Requests, Faults (ours alone) and Latency, by the function's name: dimensions of few values only. docs/adr/0031
 */
export function logRequest(request: CompletedRequest, writeMetrics: (line: string) => void): void {
  const { requestId, functionName, method, status, attempts, error } = request;
  const milliseconds = Math.round(request.milliseconds);
  const isError = status >= 400;
  const isFault = isError && !(error instanceof ApiError);
  const entry = {
    requestId,
    method: METHODS.has(method) ? method : 'OTHER',
    route: ROUTE,
    status,
    milliseconds,
    attempts,
    ...(isError && { errorName: nameOf(error) }),
  };
  if (isFault) console.error(entry);
  else if (isError) console.warn(entry);
  else console.info(entry);

  writeMetrics(
    `${JSON.stringify({
      _aws: {
        Timestamp: Date.now(),
        CloudWatchMetrics: [
          {
            Namespace: 'Inquiries',
            Dimensions: [['FunctionName']],
            Metrics: [
              { Name: 'Requests', Unit: 'Count' },
              { Name: 'Faults', Unit: 'Count' },
              { Name: 'Latency', Unit: 'Milliseconds' },
            ],
          },
        ],
      },
      FunctionName: functionName ?? 'local',
      Requests: 1,
      Faults: isFault ? 1 : 0,
      Latency: milliseconds,
    })}\n`,
  );
}

/** Errors of ours are named by their code, unless they wrap what went wrong: then that is what has the name. */
function nameOf(error: unknown): string {
  // ElectroDB wraps, too; the wrapper's name says nothing.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const name = cause instanceof ApiError ? cause.code : cause instanceof Error ? cause.name : typeof cause;
  return NAME.test(name) ? name : 'Error';
}
