import { beforeEach, expect, it, vi } from 'vitest';
import { badRequest } from '../../src/errors.ts';
import { logRequest, type CompletedRequest } from '../../src/log.ts';
import { EMAIL } from '../helpers/events.ts';

const COMMON = { requestId: 'request-1', method: 'GET', status: 200, attempts: 2 };
const REQUEST = { ...COMMON, functionName: 'inquiries-main', milliseconds: 5.6 };
const LINE = { ...COMMON, route: '/inquiries', milliseconds: 6 };

const lines: { level: string; entry: unknown }[] = [];
beforeEach(() => {
  lines.length = 0;
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((...entry) => void lines.push({ level, entry }));
  }
});

/** @returns The line of metrics. */
function log(change: Partial<CompletedRequest> = {}): unknown {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  logRequest({ ...REQUEST, ...change });
  return JSON.parse(String(write.mock.lastCall?.[0]));
}

class SecretError extends Error {
  override readonly name = 'ThrottlingException';
  readonly item = { email: EMAIL, subject: 'secret' };
}
const FAULT = { status: 500, error: new SecretError(`secret of ${EMAIL}`, { cause: 'secret' }) };

it.each<[string, Partial<CompletedRequest>, string, object, number]>([
  ['a success', {}, 'info', {}, 0],
  ['an unknown method', { method: EMAIL }, 'info', { method: 'OTHER' }, 0],
  [
    'a mistake of the client',
    { status: 400, error: badRequest(EMAIL) },
    'warn',
    { status: 400, errorName: 'BAD_REQUEST' },
    0,
  ],
  ['an internal error', FAULT, 'error', { status: 500, errorName: 'ThrottlingException' }, 1],
])('%s is one line without content, and one of metrics', (_, change, level, entry, Faults) => {
  const metrics = log(change);
  expect(lines).toEqual([{ level, entry: [{ ...LINE, ...entry }] }]);
  const values = { Requests: 1, Faults, Latency: 6 };
  expect(metrics).toMatchObject({ FunctionName: 'inquiries-main', ...values });
});

// CloudWatch's embedded metric format
it('metrics have their units and the dimension of the function', () => {
  const toMetric = ([Name, Unit]: string[]) => ({ Name, Unit });
  const units = [
    ['Requests', 'Count'],
    ['Faults', 'Count'],
    ['Latency', 'Milliseconds'],
  ];
  const Metrics = units.map(toMetric);
  const CloudWatchMetrics = [{ Namespace: 'Inquiries', Dimensions: [['FunctionName']], Metrics }];
  expect(log({ functionName: undefined })).toMatchObject({
    _aws: { Timestamp: expect.any(Number), CloudWatchMetrics },
    FunctionName: 'local',
  });
});

it.each<[string, unknown, string]>([
  ['a string', 'secret', 'string'],
  ['a system error', Object.assign(new Error('m'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ['what wraps an error', new Error('m', { cause: FAULT.error }), 'ThrottlingException'],
  ['an error whose name has an email', Object.assign(new Error('m'), { name: EMAIL }), 'Error'],
])('only a name is logged when %s was thrown', (_, error, errorName) => {
  log({ status: 500, error });
  expect(lines).toEqual([{ level: 'error', entry: [{ ...LINE, status: 500, errorName }] }]);
});

const limits = [
  { reason: 'IndexWriteKeyRangeThroughputExceeded', resource: EMAIL },
  { reason: EMAIL },
];
it.each<[string, object[], string[]]>([
  ['ThrottlingReasons', limits, ['IndexWriteKeyRangeThroughputExceeded']],
  ['throttlingReasons', limits, ['IndexWriteKeyRangeThroughputExceeded']],
  ['CancellationReasons', [{ Code: 'ThrottlingError', Message: EMAIL }, {}], ['ThrottlingError']],
])('of %s only what has the form of a reason is logged', (name, reasons, throttlingReasons) => {
  log({ status: 500, error: Object.assign(new SecretError('secret'), { [name]: reasons }) });
  const errorName = 'ThrottlingException';
  expect(lines).toMatchObject([{ entry: [{ errorName, throttlingReasons }] }]);
});
