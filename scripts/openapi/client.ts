/** Writes the typed client of the web page from the published document. docs/adr/0043 */
import type { OpenApiDocument, Operation, Reference, Response, Schema } from './document.ts';

const METHODS = ['get', 'post'] as const;

interface Call {
  readonly path: string;
  readonly method: (typeof METHODS)[number];
  readonly operation: Operation;
}

/**
 * The text of the client, not yet formatted.
 *
 * @throws Error for what a document may say and this generator does not know, rather than a client that is wrong.
 */
export function generateClient(document: OpenApiDocument): string {
  const calls: Call[] = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
  return [
    HEADING,
    ...Object.entries(document.components.schemas).map(
      ([name, schema]) => `${comment(schema)}export interface ${name} ${toType(schema)}\n`,
    ),
    ...calls.flatMap(({ operation }) => [toQueryType(operation), toResultType(document, operation)]),
    RUNTIME_TYPES,
    `export interface Client {\n${calls.map(toSignature).join('\n')}\n}\n`,
    RUNTIME,
    `return {\n${calls.map((call) => toMethod(document, call)).join(',\n')},\n};\n}\n`,
    ...(calls.some(({ operation }) => isPaged(document, operation)) ? [NEXT] : []),
  ].join('\n');
}

const HEADING = `/** Generated from docs/openapi.yaml by npm run openapi:client. Do not edit. */\n`;

const RUNTIME_TYPES = `
export interface ClientOptions {
  /** Where the service is, with or without a path: \`https://api.example.com/v1\`. */
  readonly baseUrl: string;
  /** Gives the token of the next request. */
  readonly getToken: () => string | Promise<string>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** An answer that the contract does not know: another status, or a body that is not JSON. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError';
  readonly status: number;

  constructor(status: number, cause?: unknown) {
    super(\`Unexpected answer with status \${status}\`, { cause });
    this.status = status;
  }
}
`;

const RUNTIME = `
/**
 * Creates the client. Every call resolves to one of the answers that the contract knows, errors included.
 *
 * A call rejects with UnexpectedAnswerError, with what \`fetch\` rejects with (TypeError without a connection, the
 * reason of an aborted signal), or with what \`getToken\` rejects with.
 */
export function createClient({ baseUrl, getToken }: ClientOptions): Client {
  const send = async (
    method: string,
    path: string,
    known: readonly number[],
    { query = {}, body, signal }: { query?: object | undefined; body?: unknown; signal?: AbortSignal | undefined },
  ) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const headers: Record<string, string> = { Authorization: \`Bearer \${await getToken()}\` };
    const init: RequestInit = { method, headers, signal: signal ?? null };
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
      init.body = JSON.stringify(body);
    }
    const url = baseUrl.replace(/\\/$/, '') + path + (search.size > 0 ? \`?\${search.toString()}\` : '');
    const response = await fetch(url, init);
    const { status } = response;
    if (!known.includes(status)) throw new UnexpectedAnswerError(status);
    const text = await response.text();
    try {
      return { status, body: JSON.parse(text), response };
    } catch (error) {
      throw new UnexpectedAnswerError(status, error);
    }
  };
`;

const NEXT = `
/** The query of the Link whose relation is \`next\` (RFC 8288). */
function parseNext(response: Response): URLSearchParams | undefined {
  const [, query] = /<\\?([^>]*)>; *rel="?next\\b/.exec(response.headers.get('Link') ?? '') ?? [];
  return query === undefined ? undefined : new URLSearchParams(query);
}
`;

const capitalise = (name: string): string => name.replace(/^./, (letter) => letter.toUpperCase());
const resultName = ({ operationId }: Operation): string => `${capitalise(operationId)}Result`;
const queryName = ({ operationId }: Operation): string => `${capitalise(operationId)}Query`;

/** A doc comment, in several lines when one is too long. */
function comment({ description }: { readonly description?: unknown }): string {
  if (typeof description !== 'string') return '';
  const text = description.replaceAll('*/', '*\\/');
  if (text.length <= 90) return `/** ${text} */\n`;
  return `/**\n${text.replace(/(\S.{0,90})(?:\s+|$)/g, ' * $1\n')} */\n`;
}

/** The TypeScript type of a schema. */
function toType(schema: Schema): string {
  const { $ref, type, anyOf, properties, items, required } = schema;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (Array.isArray(anyOf)) return (anyOf as Schema[]).map(toType).join(' | ');
  if (type === 'string') return 'string';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return `${toType(items as Schema)}[]`;
  if (type === 'object' && properties !== undefined) {
    const lines = Object.entries(properties as Record<string, Schema>).map(([name, property]) => {
      const optional = (required as string[] | undefined)?.includes(name) ? '' : '?';
      return `${comment(property)}readonly ${name}${optional}: ${toType(property)};`;
    });
    return `{\n${lines.join('\n')}\n}`;
  }
  throw new Error(`No type is known for the schema ${JSON.stringify(schema)}`);
}

function toQueryType(operation: Operation): string {
  if (operation.parameters === undefined) return '';
  const lines = operation.parameters.map(({ name, in: place, description, schema }) => {
    if (place !== 'query') throw new Error(`No place is known for the parameter ${name} in ${String(place)}`);
    return `${comment({ description })}readonly ${name}?: ${toType(schema)};`;
  });
  return `/** Parameters of ${operation.operationId}. */\nexport interface ${queryName(operation)} {\n${lines.join('\n')}\n}\n`;
}

function resolve(document: OpenApiDocument, response: Response | Reference): Response {
  if (!('$ref' in response)) return response;
  const found = document.components.responses[response.$ref.replace('#/components/responses/', '')];
  if (found === undefined) throw new Error(`${response.$ref} leads nowhere`);
  return found;
}

/** Whether an answer may carry a Link to the next page of the same query. */
function isPaged(document: OpenApiDocument, { responses, parameters }: Operation): boolean {
  return (
    parameters !== undefined &&
    Object.values(responses).some((response) => 'Link' in resolve(document, response).headers)
  );
}

function toResultType(document: OpenApiDocument, operation: Operation): string {
  const lines = Object.entries(operation.responses).map(([status, reference]) => {
    const response = resolve(document, reference);
    const next =
      'Link' in response.headers
        ? `\n/** The query that lists what comes next, when there is more. */\nreadonly next?: ${queryName(operation)};`
        : '';
    const body = toType(response.content['application/json'].schema);
    return `| {${comment(response)}readonly status: ${status}; readonly body: ${body};${next} }`;
  });
  return `/** The answers to ${operation.operationId}. */\nexport type ${resultName(operation)} =\n${lines.join('\n')};\n`;
}

function toSignature({ operation }: Call): string {
  const { operationId, summary, parameters, requestBody } = operation;
  const args = [
    ...(requestBody ? [`body: ${toType(requestBody.content['application/json'].schema)}`] : []),
    ...(parameters ? [`query?: ${queryName(operation)}`] : []),
    'options?: CallOptions',
  ];
  return `/** ${summary}. */\n${operationId}(${args.join(', ')}): Promise<${resultName(operation)}>;`;
}

function toMethod(document: OpenApiDocument, { path, method, operation }: Call): string {
  const { operationId, parameters, requestBody, responses } = operation;
  const inputs = [...(requestBody ? ['body'] : []), ...(parameters ? ['query'] : [])];
  const known = Object.keys(responses).join(', ');
  const args = [...inputs, '{ signal } = {}'].join(', ');
  const sending = `send('${method.toUpperCase()}', '${path}', [${known}], { ${[...inputs, 'signal'].join(', ')} })`;
  const result = resultName(operation);
  if (!isPaged(document, operation)) {
    return `async ${operationId}(${args}) {
      const { status, body: answer } = await ${sending};
      return { status, body: answer } as ${result};
    }`;
  }
  const fields = (parameters ?? []).map(({ name, schema }) => {
    const value = toType(schema) === 'number' ? `Number(next.get('${name}'))` : `next.get('${name}') ?? ''`;
    return `...(next.has('${name}') && { ${name}: ${value} })`;
  });
  return `async ${operationId}(${args}) {
    const { status, body, response } = await ${sending};
    const next = parseNext(response);
    return { status, body, ...(next && { next: { ${fields.join(', ')} } }) } as ${result};
  }`;
}
