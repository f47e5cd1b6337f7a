import { resolve } from 'node:path';
import { isSettingOf, MAXIMA } from '../src/config.ts';
import { namesOf } from '../src/limits.ts';
import { isLanguage, LANGUAGES } from '../text/languages.ts';
import { parseOptions, UsageError } from '../lib/terminal/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { engineNames, type EngineName, type EngineUrl } from './database/engines.ts';

const USAGE = `
Usage: npm start -- [options]

  --port N           the gateway's; the others take the next seven; 0 = any free
                     ports (default: PORT or 3000)
  --engine NAME      ${engineNames.join(' or ')} (default: dynamodb-local if
                     there is a JDK 17 or newer), or the URL of a running
                     engine with DynamoDB's API
  --data FOLDER      where inquiries and the issuer's key are kept (default:
                     .data)
  --reset            delete the inquiries kept so far
  --seed N           fill a table without inquiries with N, up to 5,000, of the
                     last six weeks; no mails are sent about them
  --inspect[=PORT]   debug the function, without its timeout (default: 9229)
  --cors-origin URL  the origin of a page of yours that may sign in and call the
                     API; repeatable
  --issuer URL       an OIDC issuer of your own, where users sign in instead of
                     the local one; it must know the form's address
  --client-id ID     the form's app client there, which is the tokens' audience
  --watch            apply changes of src/ and web/ at once (npm run dev)

Limits, retention and mail are set with variables of the environment:
docs/configuration.md. Mails to bounce@simulator.amazonses.com come back, and
those to complaint@simulator.amazonses.com are reported as spam.
A mail program answers by SMTP on the port that is printed.
`;
const OPTIONS = {
  port: { type: 'string' },
  engine: { type: 'string' },
  data: { type: 'string', default: DATA_FOLDER },
  inspect: { type: 'string' },
  reset: { type: 'boolean', default: false },
  seed: { type: 'string' },
  issuer: { type: 'string' },
  'client-id': { type: 'string' },
  watch: { type: 'boolean', default: false },
  'cors-origin': { type: 'string', multiple: true, default: [] as string[] },
} as const;

export type Settings = ReturnType<typeof readSettings>;

/** @throws UsageError for a wrong option or variable. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv) {
  // Before `--`, npm takes options for its own.
  const taken = Object.keys(OPTIONS).filter((name) => env[`npm_config_${name.replace('-', '_')}`]);
  if (taken.length > 0) {
    throw new UsageError(
      `npm took --${taken.join(' and --')} for itself; put options after a double dash: npm start -- --port 4000`,
    );
  }
  // parseArgs does not support optional values.
  const given = args.map((arg) => (arg === '--inspect' ? '--inspect=9229' : arg));
  const options = parseOptions(USAGE, OPTIONS, given);
  const { inspect, seed } = options;
  const engine = parseEngine(options.engine);
  if (options.reset && engine?.startsWith('http')) {
    throw new UsageError('--reset cannot delete the data of an engine that is given as a URL.');
  }
  return {
    port: parseNumber('--port', options.port ?? (env['PORT'] || '3000'), 0, 65_528),
    engine,
    folder: resolve(options.data),
    reset: options.reset,
    seed: seed === undefined ? seed : parseNumber('--seed', seed, 1, 5_000),
    liveForm: options.watch,
    corsOrigins: options['cors-origin'].map(parseOrigin),
    signIn: parseSignIn(options.issuer, options['client-id']),
    inspect: inspect === undefined ? inspect : parseNumber('--inspect', inspect, 1, 65_535),
    variables: readVariables(env),
  };
}

const toError = (name: string, expected: string, text: string | undefined) =>
  new UsageError(`${name} must be ${expected}, not "${text}".`);

function parseNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw toError(name, `a number from ${minimum} to ${maximum}`, text);
}

/** @throws UsageError */
function parseEngine(text: string | undefined): EngineName | EngineUrl | undefined {
  const name = engineNames.find((one) => one === text);
  if (text === undefined || name !== undefined) return name;
  const { protocol = '', origin } = URL.parse(text) ?? {};
  if (/^https?:$/.test(protocol)) return origin as EngineUrl;
  throw toError('--engine', `${engineNames.join(', ')} or a URL`, text);
}

/** @throws UsageError for one without the other, or a wrong URL. */
function parseSignIn(issuer: string | undefined, clientId: string | undefined) {
  if (issuer === undefined && clientId === undefined) return undefined;
  if (!issuer || !clientId) {
    throw new UsageError('--issuer and --client-id must be given together.');
  }
  if (!/^https?:$/.test(URL.parse(issuer)?.protocol ?? '')) {
    throw toError('--issuer', 'a URL', issuer);
  }
  return { issuer, clientId };
}

/** @throws UsageError unless the text is as browsers send it. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  if (url?.origin === text && url.protocol.startsWith('http') && !/[*,]/.test(text)) return text;
  const example = 'one origin as browsers send it, such as http://localhost:5173';
  throw toError('--cors-origin', example, text);
}

/** @throws UsageError for values that a stage would refuse. */
function readVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const variables: Record<string, string> = {};
  const read = (name: string, isValid: (value: string) => boolean, expected: string): void => {
    const value = env[name];
    if (!value) return;
    if (!isValid(value)) throw toError(name, expected, value);
    variables[name] = value;
  };
  for (const name of namesOf(MAXIMA)) {
    read(name, (value) => isSettingOf(name, value), `a number from 1 to ${MAXIMA[name]}`);
  }
  for (const name of ['ACKNOWLEDGE', 'FOLLOW_UPS', 'FILES']) {
    read(name, (value) => /^(true|false)$/.test(value), 'true or false');
  }
  read('MAIL_LANGUAGE', isLanguage, `one of ${LANGUAGES.join(', ')}`);
  return variables;
}
