/** The settings of `npm start`: options and environment variables. */
import { resolve } from 'node:path';
import { isSettingOf, MAXIMA, settingNames } from '../src/limits.ts';
import { isLanguage, LANGUAGES } from '../src/languages.ts';
import { parseOptions, UsageError } from '../lib/command-line.ts';
import { DATA_FOLDER } from '../lib/paths.ts';
import { engineNames } from './database/engines.ts';

const USAGE = `
Usage: npm start -- [options]

  --port N           the gateway's port; issuer, docs, contact form, mailbox and demo take the next five; 0 =
                     any free ports (default: PORT or 3000)
  --engine NAME      ${engineNames.join(' or ')} (default: dynamodb-local if there is a JDK 17 or newer)
  --data FOLDER      where inquiries and the issuer's key are kept (default: .data)
  --reset            delete the inquiries kept so far
  --seed N           fill a table without inquiries with N, up to 5,000, of the last six weeks in six languages:
                     waiting, answered and dismissed ones; no mails are sent about them
  --inspect[=PORT]   debug the function: Node's inspector on 127.0.0.1 (default: 9229), one sandbox, no timeout
  --cors-origin URL  the origin of a page of yours, such as http://localhost:5173, that may sign in and call the
                     API from a browser, as the contact form may; repeatable
  --watch            reload function and mailer when src/ changes, and apply changes of web/ in the open form
                     (npm run dev)

Limits, retention and mail are set with variables of the environment: docs/configuration.md. An owner with the address
bounce@simulator.amazonses.com or complaint@simulator.amazonses.com is one whose mails bounce or are reported as spam.
`;
const OPTIONS = {
  port: { type: 'string' },
  engine: { type: 'string' },
  data: { type: 'string', default: DATA_FOLDER },
  inspect: { type: 'string' },
  reset: { type: 'boolean', default: false },
  seed: { type: 'string' },
  watch: { type: 'boolean', default: false },
  'cors-origin': { type: 'string', multiple: true, default: [] as string[] },
} as const;

export type Settings = ReturnType<typeof readSettings>;

/** @throws UsageError for a wrong option or variable. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv) {
  refuseOptionsOfNpm(args, env);
  // parseArgs has no optional values.
  const given = args.map((arg) => (arg === '--inspect' ? '--inspect=9229' : arg));
  const options = parseOptions(USAGE, OPTIONS, given);
  const { inspect, seed, reset, watch } = options;
  const engine = engineNames.find((name) => name === options.engine);
  if (options.engine !== undefined && engine === undefined) {
    throw new UsageError(
      `The engine must be ${engineNames.join(' or ')}, not "${options.engine}".`,
    );
  }
  return {
    // Issuer, docs, contact form, mailbox and demo take the next five.
    port: parseNumber('The port', options.port ?? (env['PORT'] || '3000'), 0, 65_530),
    engine,
    /** The data folder. */
    folder: resolve(options.data),
    reset,
    /** How many inquiries to begin with. */
    seed: seed === undefined ? undefined : parseNumber('--seed', seed, 1, 5_000),
    liveForm: watch,
    corsOrigins: options['cors-origin'].map(parseOrigin),
    inspect:
      inspect === undefined ? undefined : parseNumber("The inspector's port", inspect, 1, 65_535),
    /** Variables of the function and the mailer. */
    settings: readVariables(env),
  };
}

/** @throws UsageError for anything but a number in the range. */
function parseNumber(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new UsageError(`${name} must be a number from ${minimum} to ${maximum}, not "${text}".`);
}

/** Reads a value of --cors-origin. @throws UsageError unless it is an origin as browsers send it. */
function parseOrigin(text: string): string {
  const url = URL.parse(text);
  if (url?.origin === text && url.protocol.startsWith('http') && !/[*,]/.test(text)) return text;
  throw new UsageError(
    `--cors-origin must be one origin as browsers send it, such as http://localhost:5173, not "${text}".`,
  );
}

/** Reads the variables of the functions that are set. @throws UsageError for a value that a stage would not take. */
function readVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  type Rule = readonly [name: string, isValid: (value: string) => boolean, expected: string];
  const rules: Rule[] = [
    ...settingNames.map((name): Rule => [
      name,
      (value) => isSettingOf(name, value),
      `a number from 1 to ${MAXIMA[name]}`,
    ]),
    ['ACKNOWLEDGE', (value) => value === 'true' || value === 'false', 'true or false'],
    ['MAIL_LANGUAGE', isLanguage, `one of ${LANGUAGES.join(', ')}`],
  ];
  const variables: Record<string, string> = {};
  for (const [name, isValid, expected] of rules) {
    const value = env[name];
    if (!value) continue;
    if (!isValid(value)) throw new UsageError(`${name} must be ${expected}, not "${value}".`);
    variables[name] = value;
  }
  return variables;
}

/**
 * npm takes options before `--` for its own, leaves them in the environment and passes their values as arguments.
 *
 * @throws UsageError with the command to write.
 */
function refuseOptionsOfNpm([first]: readonly string[], env: NodeJS.ProcessEnv): void {
  const taken = Object.keys(OPTIONS).filter((name) => env[`npm_config_${name.replace('-', '_')}`]);
  // npm takes --engine for its --engine-strict.
  if (engineNames.some((name) => name === first)) taken.push('engine');
  if (taken.length === 0) return;
  const command = env['npm_lifecycle_event'] === 'dev' ? 'npm run dev' : 'npm start';
  throw new UsageError(
    `npm took --${taken.join(' and --')} for itself; write them behind two dashes: ${command} -- --port 4000`,
  );
}
