/** Holds real answers against docs/openapi.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { OpenApiDocument, Response, Schema } from '../../scripts/openapi/document.ts';
import { send } from './http.ts';
import type { Answer } from './http.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.yaml');
const document = close(parse(readFileSync(DOCUMENT, 'utf8'))) as OpenApiDocument;
const { components, paths } = document;

/** Headers that the transport and CORS add; the document does not speak of them. */
const TRANSPORT =
  /^(content-type|content-length|date|connection|keep-alive|apigw-requestid|access-control-.*)$/;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const compiled = new Map<Schema, ValidateFunction>();

/**
 * `send` whose answer has to be as docs/openapi.yaml says.
 *
 * @throws Error that says where the answer and the document differ.
 */
export async function sendAndCheck(url: string, options: Parameters<typeof send>[1] = {}): Promise<Answer> {
  const answer = await send(url, options);
  checkAnswer(options.method ?? 'GET', new URL(url).pathname, answer);
  return answer;
}

/** @throws Error that says where an answer differs from the document. */
export function checkAnswer(method: string, path: string, { status, headers, text, json }: Answer): void {
  const check = (condition: boolean, problem: string): void => {
    if (!condition) throw new Error(`docs/openapi.yaml: ${method} ${path} ${status}: ${problem}`);
  };
  check('access-control-allow-origin' in headers, 'the header Access-Control-Allow-Origin is missing');
  // What the document says in words only: preflights, and any other path.
  if (method === 'OPTIONS' && status === 204) return check(text === '', 'there is a body');
  const response = paths[path] ? findResponses(method, path)[status] : undefined;
  check(response !== undefined || (paths[path] === undefined && status === 404), 'it is not documented');

  check(headers['content-type'] === 'application/json', `the content type is ${headers['content-type']}`);
  const documented = new Map(
    Object.entries(response?.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]),
  );
  for (const [name, { required = false, schema }] of documented) {
    const value = headers[name];
    check(value !== undefined || !required, `the header ${name} is missing`);
    if (value !== undefined) check(findErrors(schema, value) === undefined, `${name} is ${String(value)}`);
  }
  for (const name of Object.keys(headers)) {
    check(documented.has(name) || TRANSPORT.test(name), `the header ${name} is not documented`);
  }

  if (method === 'HEAD') return check(text === '', 'there is a body');
  const schema = response?.content['application/json'].schema ?? components.schemas['GatewayReply'] ?? {};
  const errors = findErrors(schema, json);
  return check(errors === undefined, `${errors} in ${text.slice(0, 500)}`);
}

/** The responses the document has for a method, by status, references followed. */
export function findResponses(method: string, path: string): Record<string, Response> {
  const { get, post, 'x-other-methods': others } = paths[path] ?? {};
  const responses = method === 'GET' ? get?.responses : method === 'POST' ? post?.responses : others;
  return Object.fromEntries(
    Object.entries(responses ?? {}).map(([status, response]) => {
      const found =
        '$ref' in response ? components.responses[response.$ref.split('/').at(-1) ?? ''] : response;
      if (found === undefined) throw new Error(`The response ${status} of ${method} leads nowhere`);
      return [status, found];
    }),
  );
}

function findErrors(schema: Schema, value: unknown): string | undefined {
  // With the components beside it, `#/components/schemas/…` is found from the schema itself.
  const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
  compiled.set(schema, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** A copy in which objects have no properties but those described: an undocumented field is a difference, too. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, close(part)]));
  return copy['type'] === 'object' && 'properties' in copy ? { ...copy, additionalProperties: false } : copy;
}
