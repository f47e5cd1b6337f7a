import { expect, it, vi } from 'vitest';
import { badRequest, unparsableJson } from '../../src/errors.ts';
import { logRequest, type CompletedRequest } from '../../src/log.ts';
import { EMAIL } from '../helpers/events.ts';

const COMMON = { requestId: 'request-1', method: 'GET', status: 200, attempts: 2 };
const REQUEST = { ...COMMON, functionName: 'inquiries-main', milliseconds: 5.6 };
const LINE = { ...COMMON, route: '/inquiries', milliseconds: 6 };

/** @returns A request's line, its level, and that of its metrics. */
function log(change: Partial<CompletedRequest> = {}) {
  const lines: { level: string; entry: unknown }[] = [];
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((entry) => void lines.push({ level, entry }));
  }
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  logRequest({ ...REQUEST, ...change });
  return { lines, metrics: JSON.parse(String(write.mock.lastCall?.[0])) as unknown };
}

class SecretError extends Error {
  override readonly name = 'ThrottlingException';
  readonly item = { email: EMAIL, subject: 'secret' };
}
const secret = new SecretError(`secret of ${EMAIL}`, { cause: 'secret' });
const named = (more: object, options?: ErrorOptions) =>
  Object.assign(new Error('m', options), more);

it.each<[string, Partial<CompletedRequest>, string, object]>([
  ['a success', {}, 'info', {}],
  ['an unknown method', { method: EMAIL }, 'info', { method: 'OTHER' }],
  [
    'a mistake of the client',
    { status: 400, error: badRequest(EMAIL) },
    'warn',
    { status: 400, errorName: 'BAD_REQUEST' },
  ],
  [
    'a body that is not JSON',
    { status: 500, error: unparsableJson(new SyntaxError(EMAIL)) },
    'warn',
    { status: 500, errorName: 'SyntaxError' },
  ],
  ...[
    ['an internal error', secret, 'ThrottlingException'],
    ['what wraps it', named({}, { cause: secret }), 'ThrottlingException'],
    ['a string', 'secret', 'string'],
    ['a system error', named({ code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['an error whose name has an email', named({ name: EMAIL }), 'Error'],
  ].map(([title, error, errorName]): [string, object, string, object] => [
    String(title),
    { status: 500, error },
    'error',
    { status: 500, errorName },
  ]),
])('%s is one line without content, and one of metrics', (_, change, level, entry) => {
  const { lines, metrics } = log(change);
  expect(lines).toEqual([{ level, entry: { ...LINE, ...entry } }]);
  const Faults = level === 'error' ? 1 : 0;
  const values = { Requests: 1, Faults, Latency: 6 };
  expect(metrics).toMatchObject({ FunctionName: 'inquiries-main', ...values });
});

// CloudWatch's embedded metric format
it('metrics have their units and the dimension of the function', () => {
  const Metrics = [
    { Name: 'Requests', Unit: 'Count' },
    { Name: 'Faults', Unit: 'Count' },
    { Name: 'Latency', Unit: 'Milliseconds' },
  ];
  const CloudWatchMetrics = [{ Namespace: 'Inquiries', Dimensions: [['FunctionName']], Metrics }];
  expect(log({ functionName: undefined }).metrics).toMatchObject({
    _aws: { Timestamp: expect.any(Number), CloudWatchMetrics },
    FunctionName: 'local',
  });
});

const REASON = 'IndexWriteKeyRangeThroughputExceeded';
const limits = [{ reason: REASON, resource: EMAIL }, { reason: EMAIL }];
it.each<[string, object[], string[]]>([
  ['ThrottlingReasons', limits, [REASON]],
  ['throttlingReasons', limits, [REASON]],
  ['CancellationReasons', [{ Code: 'ThrottlingError', Message: EMAIL }, {}], ['ThrottlingError']],
])('logs reasons of %s that have the form of one', (name, reasons, throttlingReasons) => {
  const { lines } = log({ status: 500, error: named({ [name]: reasons }) });
  expect(lines).toMatchObject([{ entry: { errorName: 'Error', throttlingReasons } }]);
});
