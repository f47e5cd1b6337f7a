/**
 * Prints an ID token of the local issuer, and nothing else, for use in a shell:
 *   curl -H "authorization: $(npm run --silent token)" "$GATEWAY/inquiries"
 *
 * Exit codes: 0 printed; 2 bad usage, no running stack, or a refusal by the issuer (one line on stderr).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseOptions, runCommand, UsageError } from './cli.ts';
import type { TokenRequest } from './local/issuer.ts';

const USAGE = `
Usage: npm run --silent token -- [options]

Prints an ID token of the running local stack (npm start).

  --email E               the user's e-mail address (default: ana@example.com)
  --sub S                 the user's id (default: a UUID made from the e-mail address)
  --claims JSON           an object laid over the claims; null removes one: '{"email":null}'
  --expires-in SECONDS    from now to expiry, negative for an expired token (default: 3600)
  --issuer URL            ask this issuer instead of the running stack's
`;
const STACK_FILE = join(import.meta.dirname, '..', '.data', 'stack.json');

await runCommand(async () => {
  const options = parseOptions(
    USAGE,
    {
      email: { type: 'string' },
      sub: { type: 'string' },
      claims: { type: 'string' },
      'expires-in': { type: 'string' },
      issuer: { type: 'string' },
    },
    joinNegative(process.argv.slice(2)),
  );
  const seconds = options['expires-in'];
  if (seconds !== undefined && !/^-?\d+$/.test(seconds)) {
    throw new UsageError(`--expires-in must be a whole number of seconds, not '${seconds}'`);
  }
  const request: { [field in keyof TokenRequest]: unknown } = {
    email: options.email,
    sub: options.sub,
    claims: options.claims === undefined ? undefined : parseJson('--claims', options.claims),
    expiresIn: seconds === undefined ? undefined : Number(seconds),
  };
  process.stdout.write(`${await fetchToken(options.issuer ?? (await runningIssuer()), request)}\n`);
});

/** `--expires-in -60` is how one writes it, but parseArgs takes a value with a dash only as `--expires-in=-60`. */
function joinNegative(argv: string[]): string[] {
  const at = argv.indexOf('--expires-in');
  const value = argv[at + 1];
  return at >= 0 && value?.startsWith('-') ? argv.toSpliced(at, 2, `--expires-in=${value}`) : argv;
}

async function runningIssuer(): Promise<string> {
  const text = await readFile(STACK_FILE, 'utf8').catch(() => {
    throw new UsageError(`No local stack is running (there is no ${STACK_FILE}); start it with npm start.`);
  });
  const stack = parseJson(STACK_FILE, text);
  if (
    typeof stack !== 'object' ||
    stack === null ||
    !('issuer' in stack) ||
    typeof stack.issuer !== 'string'
  ) {
    throw new UsageError(`${STACK_FILE} names no issuer; restart the local stack.`);
  }
  return stack.issuer;
}

async function fetchToken(issuer: string, request: object): Promise<string> {
  if (!URL.canParse(issuer)) throw new UsageError(`The issuer '${issuer}' is not a URL.`);
  const response = await fetch(new URL('/local/token', issuer), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    redirect: 'error',
    signal: AbortSignal.timeout(5000),
  }).catch(() => {
    throw new UsageError(`The issuer at ${issuer} does not answer; is the local stack running (npm start)?`);
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null) {
    if ('token' in body && typeof body.token === 'string') return body.token;
    if ('error' in body && typeof body.error === 'string') throw new UsageError(body.error);
  }
  throw new UsageError(`${issuer} answered ${response.status}, but not as the local issuer does.`);
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name} is not JSON.`);
  }
}
