import { inquiriesPath } from './contract.ts';
import { ApiError } from './errors.ts';

export interface CompletedRequest {
  requestId: string | undefined;
  functionName: string | undefined;
  method: unknown;
  status: number;
  milliseconds: number;
  attempts: number;
  error?: unknown;
}

/** Names, codes and reasons look like this; other texts could come from a request. */
const NAME = /^[A-Za-z]\w{0,63}$/;
/** This is too short for anything but a method. */
const METHOD = /^[A-Z]{3,7}$/;

/**
 * Logs a request without an error's message, stack and properties, which may hold tokens, emails and bodies. An {@link
 * ApiError} is a warning; the alarms count all other errors. docs/adr/0022
 */
export function logRequest(request: CompletedRequest): void {
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
  };
  if (isInternal) console.error(entry);
  else if (isError) console.warn(entry);
  else console.info(entry);

  writeMetrics(functionName, { Requests: 1, Faults: Number(isInternal), Latency: milliseconds });
}

/** Writes a line in CloudWatch's embedded metric format, which console methods would wrap in JSON. */
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

const findCause = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

type Reasons = { reason?: string; Code?: string }[];

/** The limits that DynamoDB names; for a transaction, each write's code. */
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

/** The error's name; for an ApiError or a system error such as ECONNREFUSED, its code. */
export function nameOf(error: unknown): string {
  const cause = findCause(error);
  if (!(cause instanceof Error)) return typeof cause;
  const { name, code } = cause as NodeJS.ErrnoException;
  const text =
    code !== undefined && ['ApiError', 'Error', 'AggregateError'].includes(name) ? code : name;
  return NAME.test(text) ? text : 'Error';
}
