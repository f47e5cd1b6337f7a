import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { OpenApiDocument } from '../../scripts/openapi-document.ts';
import { inquiriesPath } from '../../src/contract.ts';
import type { Answer } from '../local/http.ts';
import { readText } from '../helpers/repository.ts';

const FILE = 'docs/openapi.yaml';
const source = parse(readText(FILE)) as object;

/** Copies a schema without references. Its objects allow no undocumented field. */
function resolve(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(resolve);
  if (typeof part !== 'object' || part === null) return part;
  if ('$ref' in part) {
    const names = String(part.$ref).split('/').slice(1);
    return resolve(names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), source));
  }
  const copy = Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolve(one)]));
  const isClosed = copy['type'] === 'object' && 'properties' in copy;
  return isClosed ? { ...copy, additionalProperties: false } : copy;
}
const { paths } = resolve(source) as OpenApiDocument;

interface Response {
  headers: Record<string, { required?: boolean; schema: object }>;
  content: {
    'application/json': { schema: object; examples: Record<string, { value: unknown }> };
  };
}

export function findResponses(method: string): Record<string, Response> {
  const { get, post, 'x-other-methods': others } = paths[inquiriesPath] ?? {};
  const { responses = others } = (method === 'GET' && get) || (method === 'POST' && post) || {};
  return Object(responses) as Record<string, Response>;
}

/** Headers of transport and CORS are not documented. */
const TRANSPORT =
  /^(content-type|content-length|date|connection|keep-alive|apigw-requestid|access-control-.*|vary)$/;

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  // Documented as UTC with milliseconds, in lower case.
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  },
});

export function checkAnswer(method: string, { status, headers, text, json }: Answer): void {
  const check = (condition: unknown, problem: string): void => {
    if (!condition) throw new Error(`${FILE}: ${method} ${status}: ${problem}`);
  };
  const { 'access-control-allow-origin': origin, 'content-type': type } = headers;
  check(origin !== undefined, 'the header Access-Control-Allow-Origin is missing');
  // Only its description is documented.
  if (method === 'OPTIONS' && status === 204) return check(text === '', 'there is a body');
  const { [status]: response } = findResponses(method);
  check(response, 'it is not documented');
  check(type === 'application/json', `the content type is ${type}`);
  const documented = Object.entries(response?.headers ?? {});
  for (const [name, { required = false, schema }] of documented) {
    const value = headers[name.toLowerCase()];
    check(value !== undefined || !required, `the header ${name} is missing`);
    check(value === undefined || ajv.validate(schema, value), `${name} is ${String(value)}`);
  }
  const names = new Set(documented.map(([name]) => name.toLowerCase()));
  for (const name of Object.keys(headers)) {
    check(names.has(name) || TRANSPORT.test(name), `the header ${name} is not documented`);
  }
  if (method === 'HEAD') return check(text === '', 'there is a body');
  const isValid = ajv.validate(response?.content['application/json'].schema ?? {}, json);
  return check(isValid, `${ajv.errorsText()} in ${text.slice(0, 500)}`);
}
