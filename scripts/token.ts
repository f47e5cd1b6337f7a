/**
 * Prints an ID token for the running local stack and nothing else, signed with the stack's key file:
 *   curl -H "Authorization: $(npm run --silent token)" http://127.0.0.1:3000/inquiries
 *
 * Exit codes: 0 printed; 2 bad usage, no running stack, or a key file that cannot be used (one line on stderr).
 */
import { join, resolve } from 'node:path';
import { parseOptions, readIfThere, runCommand, UsageError } from './cli.ts';
import { readKey } from './local/issuer/keys.ts';
import { signToken } from './local/issuer/tokens.ts';

const USAGE = `
Usage: npm run --silent token -- [options]

Prints an ID token of the running local stack (npm start).

  --email E               the user's e-mail address (default: ana@example.com)
  --sub S                 the user's id (default: a UUID made from the e-mail address)
  --claims JSON           an object with claims to replace or add; null removes one: '{"email":null}'
  --expires-in SECONDS    from now to expiry, negative for an expired token (default: 3600)
  --data FOLDER           the data folder of the stack (default: .data)
`;

await runCommand(async () => {
  const options = parseOptions(
    USAGE,
    {
      email: { type: 'string' },
      sub: { type: 'string' },
      claims: { type: 'string' },
      'expires-in': { type: 'string', default: '3600' },
      data: { type: 'string', default: join(import.meta.dirname, '..', '.data') },
    },
    joinNegative(process.argv.slice(2)),
  );
  const { email, sub, claims = '{}', 'expires-in': seconds, data } = options;
  const request = { email, sub, claims: parseObject(claims), expiresIn: Number(seconds) };
  if (request.claims === undefined) throw new UsageError('--claims must be a JSON object.');
  if (!/^-?\d+$/.test(seconds) || !Number.isSafeInteger(request.expiresIn)) {
    throw new UsageError(`--expires-in must be a whole number of seconds, not '${seconds}'.`);
  }
  const { issuer, keysFile } = readState(join(resolve(data), 'stack.json'));
  process.stdout.write(`${await signToken(await readKey(keysFile), issuer, request)}\n`);
});

/** parseArgs takes a value that starts with a dash only as `--expires-in=-60`. */
function joinNegative(argv: string[]): string[] {
  const at = argv.indexOf('--expires-in');
  const value = argv[at + 1];
  return at >= 0 && value?.startsWith('-') ? argv.toSpliced(at, 2, `--expires-in=${value}`) : argv;
}

/** Reads the state file of `npm start`. @throws UsageError when there is none or its process has ended. */
function readState(file: string) {
  const text = readIfThere(file);
  if (text === undefined) {
    throw new UsageError(
      `No local stack is running (cannot read ${file}); start it with npm start, or pass the --data that it printed.`,
    );
  }
  const { pid, issuer, keysFile } = parseObject(text) ?? {};
  if (typeof pid !== 'number' || typeof issuer !== 'string' || typeof keysFile !== 'string') {
    throw new UsageError(`${file} does not describe a local stack; restart it with npm start.`);
  }
  try {
    process.kill(pid, 0);
  } catch {
    throw new UsageError(
      `No local stack is running (process ${pid} of ${file} has ended); start it with npm start.`,
    );
  }
  return { issuer, keysFile };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
