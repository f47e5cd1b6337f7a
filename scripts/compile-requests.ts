/**
 * Makes the module that the bundle has in place of src/entities/requests.ts, which loads ElectroDB: each request is made
 * once of marked values, and what ElectroDB returns is written down with the marks as parameters. docs/adr/0060
 */
import { isDeepStrictEqual } from 'node:util';
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
  readonly attributes: Readonly<
    Record<string, { type: unknown; required?: true; readOnly?: true }>
  >;
  readonly indexes: { readonly byOwner: { pk: Composite; sk: Composite } };
}
interface Composite {
  readonly composite: readonly string[];
}

/** Marks of what a new row has: the attributes of its key, and those that are required or never change. */
function markRow(parameter: string, { attributes, indexes: { byOwner } }: Model) {
  const keys = new Set([...byOwner.pk.composite, ...byOwner.sk.composite]);
  const row: Record<string, string | number | true> = {};
  for (const [name, { type, required, readOnly }] of Object.entries(attributes)) {
    const isKey = keys.has(name);
    if (!isKey && !required && !readOnly) continue;
    const expression = `${parameter}.${name}`;
    row[name] =
      type === 'boolean' || (type === 'number' ? markNumber(expression) : markText(expression));
    if (!isKey && !required) optional.push({ parameter, attribute: name });
  }
  return row;
}

/** What may be absent, or in the case of a boolean another one: a parameter, or one of its attributes. */
const optional: { parameter: string; attribute?: string }[] = [
  { parameter: 'key' },
  { parameter: 'rate' },
];
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

/** What a request is when something is not given, or not true. */
interface Variant {
  readonly condition: string;
  readonly value: unknown;
}

/** @returns The source of the module. */
export function compileRequests(): string {
  const requests = createRequests(markText('table'));
  const functions = Object.entries(MARKED).map(([name, marked]: [string, object]) => {
    const request = requests[name as keyof Requests] as (parameters: object) => unknown;
    const variants = listVariants(marked).map(([condition, parameters]) => ({
      condition,
      value: request(parameters),
    }));
    const template = format(request(marked), variants, '  ');
    return `  ${name}: ({ ${Object.keys(marked).join(', ')} }) => (${template}),`;
  });
  return `// Made by scripts/compile-requests.ts of src/entities/requests.ts.
export const createRequests = (table) => ({
${functions.join('\n')}
});
`;
}

function listVariants(marked: object): [condition: string, parameters: object][] {
  const given = marked as Record<string, Record<string, unknown>>;
  return optional.flatMap(({ parameter, attribute }): [string, object][] => {
    const row = given[parameter];
    if (row === undefined) return [];
    if (attribute === undefined) return [[parameter, { ...given, [parameter]: undefined }]];
    const condition = `${parameter}.${attribute}`;
    const set = (value: unknown): [string, object] => [
      condition,
      { ...given, [parameter]: { ...row, [attribute]: value } },
    ];
    return row[attribute] === true ? [set(undefined), set(false)] : [set(undefined)];
  });
}

const absent = Symbol('absent');

/** The source of a value; what a variant lacks is under its condition. */
function format(value: unknown, variants: readonly Variant[], indent: string): string {
  const differing = variants.filter((variant) => !isDeepStrictEqual(variant.value, value));
  const inner = `${indent}  `;
  /** The source of a part, from the source of its value. */
  const formatPart = (
    part: unknown,
    find: (variant: unknown) => unknown,
    write: (source: string, condition?: string) => string,
  ): string => {
    const parts = differing.map(({ condition, value: one }) => ({ condition, value: find(one) }));
    const lacking = parts.find((one) => one.value === absent);
    const present = parts.filter((one) => one.value !== absent);
    return `${inner}${write(format(part, present, inner), lacking?.condition)},\n`;
  };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, at) => {
      const find = (one: unknown): unknown => {
        const list = one as unknown[];
        if (list.length === value.length) return list[at];
        return list.some((other) => isDeepStrictEqual(other, item)) ? item : absent;
      };
      return formatPart(item, find, (source, condition) =>
        condition === undefined ? source : `...(${condition} === undefined ? [] : [${source}])`,
      );
    });
    return `[\n${items.join('')}${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, part]: [string, unknown]) => {
      const find = (one: unknown): unknown =>
        Object.hasOwn(one as object, name) ? (one as Record<string, unknown>)[name] : absent;
      const quoted = /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name);
      return formatPart(part, find, (source, condition) =>
        condition === undefined
          ? `${quoted}: ${source}`
          : `...(${condition} !== undefined && { ${quoted}: ${source} })`,
      );
    });
    const [only = ''] = entries;
    const isShort = entries.length === 1 && only.indexOf('\n') === only.length - 1;
    return isShort ? `{ ${only.trim().slice(0, -1)} }` : `{\n${entries.join('')}${indent}}`;
  }
  const [variant] = differing;
  if (variant !== undefined) {
    if (typeof value === 'boolean') return variant.condition;
    throw new Error(`Without ${variant.condition}, ElectroDB changes ${JSON.stringify(value)}.`);
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
