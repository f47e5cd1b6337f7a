/**
 * Generates requests: ElectroDB makes each from marked values, and the marks become parameters. A request is made again
 * without each optional value; what is then missing gets a condition. docs/adr/0060
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { format } from 'oxfmt';
import style from '../.oxfmtrc.json' with { type: 'json' };
import { parseOptions, readIfThere, runCommand, type Main } from '../lib/terminal/command-line.ts';
import { ROOT } from '../lib/paths.ts';
import { IDEMPOTENCY_KEY_MODEL } from '../src/entities/idempotency-key.ts';
import { INQUIRY_MODEL } from '../src/entities/inquiry.ts';
import { createRequests, type Requests } from '../src/entities/requests.ts';

const FILE = 'src/entities/requests.generated.ts';
const USAGE = `
Usage: npm run requests -- [--check]

Writes ${FILE} from requests.ts and the models.

  --check   write nothing; exit 1 when the file is not what would be written
`;

export const main: Main = async (args, { stdout }) => {
  const { check } = parseOptions(USAGE, { check: { type: 'boolean', default: false } }, args);
  const { $schema: _, ignorePatterns: __, ...options } = style;
  const { code } = await format(FILE, compileRequests(), options as Parameters<typeof format>[2]);
  const file = join(ROOT, FILE);
  if (check) {
    if (readIfThere(file) === code) return;
    throw new Error(`${FILE} is out of date; run npm run requests.`);
  }
  writeFileSync(file, code);
  stdout.write(`${FILE}\n`);
};

/** Expressions by the text or number that marks them. */
const expressions = new Map<string, string>();
/** ElectroDB does not use private use characters. */
let character = 0xe000;

function mark(expression: string, type: unknown = 'string'): string | number | boolean {
  if (type === 'boolean') return true;
  const code = character++;
  // No request has such a large number.
  const value = type === 'number' ? 7_000_000_000_000_000 + code : String.fromCharCode(code);
  expressions.set(String(value), expression);
  return value;
}

type Values = Record<string, unknown>;

const markAll = (parameter: string, types: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, mark(`${parameter}.${name}`, type)]),
  );

interface Model {
  attributes: Readonly<
    Record<string, { type: unknown; required?: true; readOnly?: true; watch?: readonly string[] }>
  >;
  indexes: { byOwner: Readonly<Record<'pk' | 'sk', { composite: readonly string[] }>> };
}

/** The attributes of a new row: keys, and required, read-only and computed ones. */
function attributesOf({ attributes, indexes: { byOwner } }: Model) {
  const keys = new Set([...byOwner.pk.composite, ...byOwner.sk.composite]);
  const types: Record<string, unknown> = {};
  const optional: string[] = [];
  for (const [name, { type, required, readOnly, watch }] of Object.entries(attributes)) {
    const isPresent = keys.has(name) || required === true || watch !== undefined;
    if (isPresent || readOnly) types[name] = type;
    if (!isPresent && readOnly) optional.push(name);
  }
  return { types, optional };
}

const INQUIRY = attributesOf(INQUIRY_MODEL);
const owner = markAll('owner', { cognito_sub: 'string', email: 'string' });
const inquiry = markAll('inquiry', INQUIRY.types);
const PARAMETERS: Record<keyof Requests, Values> = {
  putInquiry: { inquiry },
  storeInquiry: {
    inquiry,
    key: markAll('key', { ...attributesOf(IDEMPOTENCY_KEY_MODEL).types, now: 'number' }),
    rate: markAll('rate', {
      owner_hour: 'string',
      expires_at: 'number',
      most: 'number',
      key: 'string',
    }),
  },
  findKey: { owner, digest: mark('digest') },
  readRate: { owner_hour: mark('owner_hour') },
  listInquiries: { owner },
  toStartKey: { owner, id: mark('id') },
};
const OPTIONAL = new Set(['key', 'rate']);

/** A request without an optional value, or with another value where a mark is impossible. */
interface Variant {
  expression: string;
  result: unknown;
}

export function compileRequests(): string {
  const requests = createRequests(String(mark('table')));
  const functions = Object.entries(PARAMETERS).map(([name, parameters]) => {
    const make = requests[name as keyof Requests] as (values: Values) => unknown;
    const vary = (change: Values): unknown => make({ ...parameters, ...change });
    const variants: Variant[] = Object.keys(parameters)
      .filter((parameter) => OPTIONAL.has(parameter))
      .map((expression) => ({ expression, result: vary({ [expression]: undefined }) }));
    if ('inquiry' in parameters) {
      for (const attribute of INQUIRY.optional) {
        const expression = `inquiry.${attribute}`;
        const { [attribute]: value, ...rest } = inquiry;
        variants.push({ expression, result: vary({ inquiry: rest }) });
        if (value !== true) continue;
        variants.push({ expression, result: vary({ inquiry: { ...rest, [attribute]: false } }) });
      }
    }
    return `${name}: ({ ${Object.keys(parameters).join(', ')} }) => (${toSource(make(parameters), variants)}),`;
  });
  return `// Generated by npm run requests from requests.ts and the models. Do not edit.
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Requests } from './requests.ts';

type Writes = TransactWriteItem[];

/** Creates the inputs of commands for one table, as requests.ts does. */
export const createRequests = (table: string): Requests => ({
${functions.join('\n')}
});
`;
}

/** @param variants - The same part of each variant. */
function toSource(value: unknown, variants: Variant[]): string {
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, at) => {
      const missing = variants.find(
        ({ result }) =>
          Array.isArray(result) &&
          result.length < value.length &&
          !result.some((other) => isDeepStrictEqual(other, item)),
      );
      const same = variants.flatMap(({ expression, result }) =>
        Array.isArray(result) && result.length === value.length
          ? [{ expression, result: result[at] as unknown }]
          : [],
      );
      const source = toSource(item, same);
      return missing ? `...(${missing.expression} ? ([${source}] satisfies Writes) : [])` : source;
    });
    return `[${items.join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, part]) => {
      const missing = variants.find(({ result }) => !Object.hasOwn(Object(result), name));
      const same = variants.flatMap(({ expression, result }) =>
        Object.hasOwn(Object(result), name)
          ? [{ expression, result: (result as Values)[name] }]
          : [],
      );
      const entry = `${JSON.stringify(name)}: ${toSource(part, same)}`;
      return missing ? `...(${missing.expression} !== undefined && { ${entry} })` : entry;
    });
    return `{ ${entries.join(', ')} }`;
  }
  const varied = variants.find(({ result }) => result !== value);
  if (varied) return varied.expression;
  return typeof value === 'string' ? toTemplate(value) : JSON.stringify(value);
}

/** @returns A mark's expression, or a template with expressions. */
function toTemplate(text: string): string {
  const whole = expressions.get(text);
  if (whole !== undefined) return /^\d/.test(text) ? `String(${whole})` : whole;
  const template = text
    .replaceAll(/[\\`]|\$\{/g, (match) => `\\${match}`)
    .replaceAll(/[\ue000-\uf8ff]/g, (found) => `\${${expressions.get(found)}}`);
  return template === text ? JSON.stringify(text) : `\`${template}\``;
}

if (import.meta.main) await runCommand(main);
