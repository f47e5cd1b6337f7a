import { expect, it, vi } from 'vitest';
import { badRequest, unparsableJson } from '../../src/errors.ts';
import { logRequest, type CompletedRequest } from '../../src/log.ts';
import { EMAIL } from '../helpers/events.ts';

const REQUEST = {
  requestId: 'request-1',
  functionName: 'inquiries-main',
  method: 'GET',
  status: 200,
  attempts: 2,
  milliseconds: 5.6,
};

class SecretError extends Error {
  override readonly name = 'ThrottlingException';
  readonly item = { email: EMAIL, subject: 'secret' };
}
const secret = new SecretError(`secret of ${EMAIL}`, { cause: 'secret' });
const fail = (more: object, options?: ErrorOptions) => ({
  status: 500,
  error: Object.assign(new Error('secret', options), more),
});
const reasons = [
  { reason: 'IndexWriteKeyRangeThroughputExceeded', resource: EMAIL },
  { reason: EMAIL },
];

const CASES: Record<string, Partial<CompletedRequest>> = {
  'a success': {},
  'a success of a function without a name': { functionName: undefined },
  'an unknown method': { method: EMAIL },
  'a mistake of the client': { status: 400, error: badRequest(EMAIL) },
  'a body that is not JSON': { status: 500, error: unparsableJson(new SyntaxError(EMAIL)) },
  'an internal error': { status: 500, error: secret },
  'what wraps it': fail({}, { cause: secret }),
  'a string': { status: 500, error: 'secret' },
  'a system error': fail({ code: 'ECONNREFUSED' }),
  'an error whose name has an email': fail({ name: EMAIL }),
  'a throttled query, with reasons that have the form of one': fail({ ThrottlingReasons: reasons }),
  'a throttled write': fail({ throttlingReasons: reasons }),
  'a throttled transaction': fail({
    CancellationReasons: [{ Code: 'ThrottlingError', Message: EMAIL }, {}],
  }),
};

it('a request is one line without content, and one of metrics', async () => {
  const lines: string[] = [];
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) {
    const log = (entry: unknown) => void lines.push(`${level} ${JSON.stringify(entry)}\n`);
    vi.spyOn(console, level).mockImplementation(log);
  }
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(String(line).replace(/(?<="Timestamp":)\d+/, 'TIME'));
    return true;
  });
  for (const [title, change] of Object.entries(CASES)) {
    lines.push(`# ${title}\n`);
    logRequest({ ...REQUEST, ...change });
  }
  write.mockRestore();
  const golden = lines.join('');
  expect(golden).not.toMatch(/secret|@/);
  expect(golden).toMatchSnapshot();
});
