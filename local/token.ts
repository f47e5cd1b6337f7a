/** Exit codes: 0 printed; 2 bad usage, no running stack, or a key file that cannot be used. */
import {
  parseObject,
  parseOptions,
  runCommand,
  UsageError,
  type Main,
} from '../lib/terminal/command-line.ts';
import { readKey } from '../lib/issuer/issuer-keys.ts';
import { signToken } from '../lib/issuer/issuer-tokens.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { readRunningStack } from '../lib/running-stack.ts';

const USAGE = `
Usage: npm run --silent token -- [options]

Prints an ID token of the running local stack (npm start).

  --email E               the user's e-mail address (default: ana@example.com)
  --claims JSON           an object with claims to replace or add, such as '{"sub":"x","exp":1}' for
                          another id and an expired token; null removes one: '{"email":null}'
  --data FOLDER           the data folder of the stack (default: .data)
`;

export const main: Main = async (args, io) => {
  const options = parseOptions(
    USAGE,
    {
      email: { type: 'string' },
      claims: { type: 'string', default: '{}' },
      data: { type: 'string' },
    },
    args,
  );
  const { email, data } = options;
  const claims = parseObject(options.claims);
  if (claims === undefined) throw new UsageError('--claims must be a JSON object.');
  const { issuer, usersIssuer, keysFile } = readRunningStack(data ?? DATA_FOLDER);
  if (usersIssuer !== undefined) {
    throw new UsageError(`Users of this stack sign in at ${usersIssuer}; take a token from there.`);
  }
  io.stdout.write(`${await signToken(readKey(keysFile), issuer, { email, claims })}\n`);
};

if (import.meta.main) await runCommand(main);
