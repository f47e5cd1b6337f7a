/**
 * Makes the module that the bundle has in place of src/entities/requests.ts, which loads ElectroDB: each request is made
 * once of marked values, and what ElectroDB returns is written down with the marks as parameters. What comes of an optional
 * value alone is under its condition; tests/function/requests.test.ts compares the requests with ElectroDB's. docs/adr/0060
 */
import { IDEMPOTENCY_KEY_MODEL } from '../src/entities/idempotency-key.ts';
import { INQUIRY_MODEL } from '../src/entities/inquiry.ts';
import { createRequests } from '../src/entities/requests.ts';

type Requests = ReturnType<typeof createRequests>;
type Parameters = { readonly [Name in keyof Requests]: globalThis.Parameters<Requests[Name]>[0] };

/** Expressions by the text of the value that they were marked with. */
const expressions = new Map<string, string>();
/** Private use characters: no text of ElectroDB's has one. */
let character = 0xe000;

/** A text of two characters, so that a request may use the last character alone. */
function markText(expression: string): string {
  const [first, last] = [character++, character++].map((code) => String.fromCharCode(code));
  expressions.set(`${first}${last}`, expression);
  expressions.set(`${last}`, `${expression}.slice(-1)`);
  return `${first}${last}`;
}

/** A number that no request has. */
function markNumber(expression: string): number {
  const number = 7_000_000_000_000_000 + character++;
  expressions.set(String(number), expression);
  return number;
}

interface Model {
  attributes: Readonly<Record<string, { type: unknown; required?: true; readOnly?: true }>>;
  indexes: { byOwner: { pk: Composite; sk: Composite } };
}
interface Composite {
  composite: readonly string[];
}

/** Attributes of a row that may be absent, as expressions. */
const optional = new Set<string>();

/** Marks of what a new row has: the attributes of its key, and those that are required or never change. */
function markRow(parameter: string, { attributes, indexes: { byOwner } }: Model) {
  const keys = new Set([...byOwner.pk.composite, ...byOwner.sk.composite]);
  const row: Record<string, string | number | true> = {};
  for (const [name, { type, required, readOnly }] of Object.entries(attributes)) {
    const isPresent = keys.has(name) || required === true;
    if (!isPresent && !readOnly) continue;
    const expression = `${parameter}.${name}`;
    row[name] =
      type === 'boolean' || (type === 'number' ? markNumber(expression) : markText(expression));
    if (!isPresent) optional.add(expression);
  }
  return row;
}

const owner = { cognito_sub: markText('owner.cognito_sub'), email: markText('owner.email') };
const inquiry = markRow('inquiry', INQUIRY_MODEL) as Parameters['storeInquiry']['inquiry'];
const key = {
  ...(markRow('key', IDEMPOTENCY_KEY_MODEL) as unknown as Parameters['storeInquiry']['key'] &
    object),
  now: markNumber('key.now'),
};
const rate = {
  owner_hour: markText('rate.owner_hour'),
  expires_at: markNumber('rate.expires_at'),
  most: markNumber('rate.most'),
};
const MARKED: Parameters = {
  putInquiry: { inquiry },
  storeInquiry: { inquiry, key, rate },
  findKey: { owner, digest: markText('digest') },
  listInquiries: { owner },
  toStartKey: { owner, id: markText('id') },
};

/** @returns The source of the module. */
export function compileRequests(): string {
  const requests = createRequests(markText('table'));
  const functions = Object.entries(MARKED).map(([name, marked]: [string, object]) => {
    const request = requests[name as keyof Requests] as (parameters: object) => unknown;
    return `  ${name}: ({ ${Object.keys(marked).join(', ')} }) => (${format(request(marked), '  ')}),`;
  });
  return `// Made by scripts/compile-requests.ts of src/entities/requests.ts.
export const createRequests = (table) => ({
${functions.join('\n')}
});
`;
}

/** The source of a value. */
function format(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => {
      const source = format(item, inner);
      // A write of a transaction.
      const [, parameter] = /\b(key|rate)\./.exec(source) ?? [];
      return parameter === undefined
        ? source
        : `...(${parameter} === undefined ? [] : [${source}])`;
    });
    return `[\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, part]: [string, unknown]) => {
      // Of the rows, only inquiries have booleans, which cannot be marked.
      const isBoolean = typeof part === 'object' && part !== null && 'BOOL' in part;
      const source = isBoolean ? `{ BOOL: inquiry.${name} }` : format(part, inner);
      const entry = `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: ${source}`;
      const [expression = ''] = /\binquiry\.\w+/.exec(source) ?? [];
      return expression === `inquiry.${name}` && optional.has(expression)
        ? `...(${expression} !== undefined && { ${entry} })`
        : entry;
    });
    const [only = ''] = entries;
    const isShort = entries.length === 1 && !only.includes('\n');
    return isShort
      ? `{ ${only} }`
      : `{\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}}`;
  }
  return typeof value === 'string' ? formatText(value) : JSON.stringify(value);
}

/** The source of a text: the expression that it stands for, or a template with the expressions in it. */
function formatText(text: string): string {
  const whole = expressions.get(text);
  if (whole !== undefined) return /^\d/.test(text) ? `String(${whole})` : whole;
  const template = text
    .replaceAll(/[\\`]|\$\{/g, (match) => `\\${match}`)
    .replaceAll(/[\ue000-\uf8ff]{1,2}/g, (mark) => `\${${expressions.get(mark) ?? mark}}`);
  return template === text && !/['\\]/.test(text) ? `'${text}'` : `\`${template}\``;
}
