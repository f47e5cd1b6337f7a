/** Validates responses against docs/openapi.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import { parse } from 'yaml';
import type { OpenApiDocument } from '../../scripts/openapi-document.ts';
import { send, type Answer } from './http.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.yaml');
export const document = close(parse(readFileSync(DOCUMENT, 'utf8'))) as OpenApiDocument;
const { components, paths } = document;

/** A Response Object with the parts that every response of the document has. */
type Response = OpenAPIV3_1.ResponseObject & {
  readonly headers: Record<string, OpenAPIV3_1.HeaderObject | OpenAPIV3_1.ReferenceObject>;
  readonly content: {
    'application/json': { schema: object; examples: Record<string, { value: unknown }> };
  };
};

/** Headers of the transport and of CORS, which the document does not list. */
const TRANSPORT =
  /^(content-type|content-length|date|connection|keep-alive|apigw-requestid|access-control-.*|vary)$/;

/** The formats as the service writes them: lower case, milliseconds, UTC. */
const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
};
const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
const compiled = new Map<object, ValidateFunction>();

/**
 * Sends a request and validates the response.
 *
 * @throws Error naming what differs from the document.
 */
export async function sendAndCheck(
  url: string,
  options: Parameters<typeof send>[1] = {},
): Promise<Answer> {
  const answer = await send(url, options);
  checkAnswer(options.method ?? 'GET', new URL(url).pathname, answer);
  return answer;
}

/** @throws Error naming what differs from the document. */
export function checkAnswer(
  method: string,
  path: string,
  { status, headers, text, json }: Answer,
): void {
  const check = (condition: boolean, problem: string): void => {
    if (!condition) throw new Error(`docs/openapi.yaml: ${method} ${path} ${status}: ${problem}`);
  };
  check(
    'access-control-allow-origin' in headers,
    'the header Access-Control-Allow-Origin is missing',
  );
  // Preflights and other paths are documented in the description only.
  if (method === 'OPTIONS' && status === 204) return check(text === '', 'there is a body');
  const response = paths[path] ? findResponses(method, path)[status] : undefined;
  check(
    response !== undefined || (paths[path] === undefined && status === 404),
    'it is not documented',
  );

  check(
    headers['content-type'] === 'application/json',
    `the content type is ${headers['content-type']}`,
  );
  const documented = new Map(
    Object.entries(response?.headers ?? {}).map(([name, header]) => [
      name.toLowerCase(),
      resolve<OpenAPIV3_1.HeaderObject>(header, components.headers),
    ]),
  );
  for (const [name, { required = false, schema = {} }] of documented) {
    const value = headers[name];
    check(value !== undefined || !required, `the header ${name} is missing`);
    if (value !== undefined) {
      check(findErrors(schema, value) === undefined, `${name} is ${String(value)}`);
    }
  }
  for (const name of Object.keys(headers)) {
    check(documented.has(name) || TRANSPORT.test(name), `the header ${name} is not documented`);
  }

  if (method === 'HEAD') return check(text === '', 'there is a body');
  const schema =
    response?.content['application/json'].schema ?? components.schemas['GatewayReply'] ?? {};
  const errors = findErrors(schema, json);
  return check(errors === undefined, `${errors} in ${text.slice(0, 500)}`);
}

/** The documented responses to a method by status, with references resolved. */
export function findResponses(method: string, path: string): Record<string, Response> {
  const { get, post, 'x-other-methods': others = {} } = paths[path] ?? {};
  const { responses = others } = (method === 'GET' && get) || (method === 'POST' && post) || {};
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      resolve<Response>(response as Response, components.responses),
    ]),
  );
}

/** A part of the document, or the component that it refers to. */
function resolve<Part extends object>(
  part: Part | OpenAPIV3_1.ReferenceObject,
  among: object,
): Part {
  if (!('$ref' in part)) return part;
  const name = part.$ref.split('/').at(-1) ?? '';
  return (among as Record<string, Part>)[name] as Part;
}

function findErrors(schema: object, value: unknown): string | undefined {
  // `components` is added so that `#/components/schemas/…` resolves.
  const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
  compiled.set(schema, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** A copy in which object schemas allow no other properties, so that an undocumented field is an error. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, close(part)]));
  return copy['type'] === 'object' && 'properties' in copy
    ? { ...copy, additionalProperties: false }
    : copy;
}
