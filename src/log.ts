import { inquiriesPath } from './contract.ts';
import { ApiError } from './errors.ts';

/** A request and its outcome. */
export interface CompletedRequest {
  requestId: string | undefined;
  /** Lambda's name of the function; it tells the metrics of one stage from those of another. */
  functionName: string | undefined;
  method: unknown;
  status: number;
  milliseconds: number;
  /** Requests sent to the database, retries and pages included. */
  attempts: number;
  /** What was thrown, if anything. */
  error?: unknown;
}

/** The form of names, codes and reasons of errors. Any other text could come from a request. */
const NAME = /^[A-Za-z]\w{0,63}$/;
/** Of methods; too short for anything else. */
const METHOD = /^[A-Z]{3,7}$/;

/**
 * Logs one line about a request and its outcome, with no content of either. Of an error it logs the name alone: its message,
 * stack and properties may hold tokens, emails and bodies. An {@link ApiError} is the client's mistake and logged as a warning
 * (a body that is not JSON included); any other error is internal, logged as an error and counted by the alarms. docs/adr/0022
 *
 * Lambda's JSON log format wraps the object in one line with timestamp and level.
 *
 * The metrics are Requests, Faults (internal errors) and Latency by the function's name, a dimension of few values.
 *
 * @param isLocal - True: the message of a ValidationException is logged, too. It names what is wrong with a request of ours.
 */
export function logRequest(request: CompletedRequest, isLocal = false): void {
  const { requestId, functionName, method, status, attempts, error } = request;
  const milliseconds = Math.round(request.milliseconds);
  const isError = status >= 400;
  const isInternal = isError && !(error instanceof ApiError);
  const entry = {
    requestId,
    method: METHOD.test(String(method)) ? method : 'OTHER',
    route: inquiriesPath,
    status,
    milliseconds,
    attempts,
    ...(isError && { errorName: nameOf(error), ...listThrottling(error) }),
    ...(isLocal && isInternal && describeValidation(error)),
  };
  if (isInternal) console.error(entry);
  else if (isError) console.warn(entry);
  else console.info(entry);

  writeMetrics(functionName, { Requests: 1, Faults: Number(isInternal), Latency: milliseconds });
}

/**
 * Writes one line in CloudWatch's embedded metric format, past the console, whose JSON format would wrap it. `Latency`
 * is in milliseconds, everything else is a count.
 */
export function writeMetrics(functionName = 'local', values: Record<string, number>): void {
  const metrics = Object.keys(values).map((Name) => ({
    Name,
    Unit: Name === 'Latency' ? 'Milliseconds' : 'Count',
  }));
  const line = JSON.stringify({
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        { Namespace: 'Inquiries', Dimensions: [['FunctionName']], Metrics: metrics },
      ],
    },
    FunctionName: functionName,
    ...values,
  });
  process.stdout.write(`${line}\n`);
}

const describeValidation = (error: unknown) =>
  nameOf(error) === 'ValidationException' && { errorMessage: (findCause(error) as Error).message };

const findCause = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

type Reasons = { reason?: string; Code?: string }[];

/** Which limits DynamoDB names: of a table or an index. Of a transaction it names no limits, but a code for each row. */
function listThrottling(error: unknown): false | { throttlingReasons: string[] } {
  const {
    ThrottlingReasons,
    throttlingReasons,
    CancellationReasons,
  }: Record<string, Reasons | undefined> = Object(findCause(error));
  const found = ThrottlingReasons ?? throttlingReasons ?? CancellationReasons ?? [];
  const reasons = found.flatMap(({ reason = '', Code = reason }) => (NAME.test(Code) ? Code : []));
  return reasons.length > 0 && { throttlingReasons: reasons };
}

/** The name of the innermost error. An ApiError has a code instead; so do system errors such as ECONNREFUSED. */
export function nameOf(error: unknown): string {
  const cause = findCause(error);
  if (!(cause instanceof Error)) return typeof cause;
  const { name, code } = cause as NodeJS.ErrnoException;
  const text =
    code !== undefined && ['ApiError', 'Error', 'AggregateError'].includes(name) ? code : name;
  return NAME.test(text) ? text : 'Error';
}
