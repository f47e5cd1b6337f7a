/**
 * Makes the published document, OpenAPI 3.1. Schemas come from src/contract.ts, methods and success statuses from the
 * table of operations in src/app.ts, error statuses and all examples from what the function answers, the gateway's
 * replies from the local gateway's table. What is written here is what only the document needs: sentences. docs/adr/0040
 */
import { allowedMethods, operations } from '../../src/app.ts';
import * as contract from '../../src/contract.ts';
import type { Reply } from '../local/replies.ts';
import { limits, replies } from '../local/replies.ts';
import { OTHER_METHOD, recordExamples } from './examples.ts';
import type { Example } from './examples.ts';

export interface DocumentOptions {
  /** Base URL of the deployment, without `/inquiries`. */
  readonly serverUrl: string;
  /** Says which deployment that is. */
  readonly serverDescription: string;
  readonly version: string;
}

export type Schema = Readonly<Record<string, unknown>>;

interface MediaType {
  readonly schema: Schema;
  readonly examples: Record<string, { summary: string; value: unknown }>;
}
export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}
export interface Response {
  readonly description: string;
  readonly headers: Record<string, Header>;
  readonly content: { readonly 'application/json': MediaType };
}
export type Reference = Readonly<Record<'$ref', string>>;
export type Responses = Record<string, Response | Reference>;
interface Parameter {
  readonly name: string;
  readonly in: 'query';
  readonly description: string;
  readonly schema: Schema;
}
export interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly required: true;
    readonly content: { readonly 'application/json': MediaType };
  };
  readonly responses: Responses;
}
export interface PathItem {
  readonly get?: Operation;
  readonly post?: Operation;
  /** Responses to methods that are no operation. OpenAPI 3.1 has no word for them. docs/adr/0041 */
  readonly 'x-other-methods': Responses;
}
/** The published document, as far as it is read again. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: Record<string, unknown>;
  readonly servers: { readonly url: string; readonly description: string }[];
  readonly security: Record<string, string[]>[];
  readonly tags: { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, PathItem>;
  readonly components: {
    readonly securitySchemes: Record<string, Schema>;
    readonly responses: Record<string, Response>;
    readonly schemas: Record<string, Schema>;
  };
}

interface Success {
  readonly schema: Schema;
  readonly text: string;
}

/** What the document says about each operation, and the schemas that belong to it. */
const DESCRIBED: Record<
  string,
  Omit<Operation, 'tags' | 'responses' | 'requestBody'> & { request?: Schema; success: Success }
> = {
  GET: {
    operationId: 'listInquiries',
    summary: 'List your inquiries',
    description:
      'The inquiries whose `cognito_sub` and `email` both equal the claims of the token, newest first. As many as one ' +
      'response carries; when older ones remain, `Link` leads to them.',
    parameters: toParameters(contract.listQuerySchema),
    success: { schema: contract.inquiryListResponseSchema, text: 'Your inquiries.' },
  },
  POST: {
    operationId: 'createInquiry',
    summary: 'Submit an inquiry',
    description:
      'Stores one inquiry of the owner that the token names. Nothing in the body can name another. Any content type is ' +
      'read as JSON in UTF-8; of duplicate keys the last wins.',
    request: contract.createInquiryRequestSchema,
    success: { schema: contract.createInquiryResponseSchema, text: 'The inquiry as it is stored.' },
  },
};

interface GatewayAnswer {
  readonly reply: Reply;
  readonly when: string;
  /** The methods it can happen to. Default: all. */
  readonly methods?: readonly string[];
  /** Name in the document of the response that is this reply and nothing else. */
  readonly shared?: string;
}

/** The gateway's replies on the one path, and when it gives them. */
const GATEWAY: readonly GatewayAnswer[] = [
  { reply: replies.unauthorized, when: 'the token is missing or not valid' },
  { reply: replies.notFound, when: 'the method has no route', methods: [OTHER_METHOD] },
  {
    reply: replies.payloadTooLarge,
    when: `the body is over ${toMegabytes(limits.body)}, or the event made of it over ${toMegabytes(limits.lambdaPayload)}`,
    methods: ['POST'],
  },
  { shared: 'TooManyRequests', reply: replies.tooManyRequests, when: 'the stage is throttled' },
  {
    shared: 'HeadersTooLarge',
    reply: replies.headersTooLarge,
    when: `request line and headers are over ${limits.headers.toLocaleString('en')} bytes`,
  },
  { reply: replies.internalError, when: 'the function cannot be run' },
  {
    shared: 'Unavailable',
    reply: replies.unavailable,
    when: `the function has not answered within ${limits.timeout / 1000} seconds`,
  },
];

/** Schemas that get a name, by the object that is the schema: `inquirySchema` becomes `Inquiry`. */
const NAMED = new Map<unknown, string>(
  Object.entries(contract)
    .filter(([name]) => name.endsWith('Schema') && name !== 'listQuerySchema')
    .map(([name, schema]) => [
      schema,
      name.replace(/^./, (letter) => letter.toUpperCase()).replace(/Schema$/, ''),
    ]),
);

const TAG = 'Inquiries';
const GATEWAY_REPLY = 'GatewayReply';
const reference = (name: string, kind = 'schemas'): Reference => ({ $ref: `#/components/${kind}/${name}` });

/** Makes the document; the same for the same options, whenever and wherever it is made. */
export async function createDocument(options: DocumentOptions): Promise<OpenApiDocument> {
  const examples = await recordExamples();
  const operation = (method: string, status: number): Operation => {
    const described = DESCRIBED[method];
    if (described === undefined) throw new Error(`The operation ${method} is not described.`);
    const { request, success, ...more } = described;
    const own = examples.get(method) ?? [];
    return {
      ...more,
      tags: [TAG],
      ...(request && { requestBody: toRequestBody(request, own) }),
      responses: toResponses(method, own, { ...success, status }),
    };
  };
  const others = examples.get(OTHER_METHOD) ?? [];
  const methods = Object.fromEntries(
    [...operations].map(([method, { status }]) => [
      String(method).toLowerCase(),
      operation(String(method), status),
    ]),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'Inquiry service',
      version: options.version,
      description:
        'Signed-in users submit contact-form inquiries and list their own.\n\n' +
        'An API gateway checks the token and passes requests to a function. Errors of the function are ' +
        '`{error, message}`; where the gateway answers by itself it is `{message}` alone. It answers ' +
        `${replies.notFound.status} to any path but \`${contract.inquiriesPath}\`, and preflights without a token. Any method ` +
        `but ${allowedMethods.replace(', ', ' and ')} is answered with ${others.map(({ response }) => response.statusCode).join()} ` +
        'and `Allow` where it has a route.\n\n' +
        `Limits: ${limits.headers.toLocaleString('en')} bytes of request line and headers; ${toMegabytes(limits.lambdaPayload)} ` +
        'of request or response as the function sees them; 400 KB an inquiry, in UTF-8 with its email counted twice; ' +
        `${limits.timeout / 1000} seconds.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl, description: options.serverDescription }],
    security: [{ bearer: [] }],
    tags: [{ name: TAG, description: 'They are added and read, never changed.' }],
    paths: {
      [contract.inquiriesPath]: {
        ...methods,
        'x-other-methods': toResponses(OTHER_METHOD, others),
      },
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An ID token of the user pool, with the claims `email` and `sub`. The gateway takes the bare token too.',
        },
      },
      responses: Object.fromEntries(
        GATEWAY.filter(({ shared }) => shared !== undefined).map((entry) => [
          entry.shared,
          toResponse([], [entry], undefined),
        ]),
      ),
      schemas: {
        ...Object.fromEntries([...NAMED].map(([schema, name]) => [name, toDefinition(schema as Schema)])),
        [GATEWAY_REPLY]: {
          type: 'object',
          description: 'What the gateway answers by itself.',
          required: ['message'],
          properties: { message: { type: 'string' } },
        },
      },
    },
  };
}

function toRequestBody(schema: Schema, examples: readonly Example[]): NonNullable<Operation['requestBody']> {
  const shown = examples.filter(({ request }) => request !== undefined);
  return {
    description: `Up to ${toMegabytes(limits.lambdaPayload)} as an event; the inquiry up to 400 KB.`,
    required: true,
    content: {
      'application/json': {
        schema: toSchema(schema),
        examples: Object.fromEntries(
          shown.map(({ name, when, request }) => [name, { summary: toSentence(when), value: request }]),
        ),
      },
    },
  };
}

/** All responses to a method by status: what the function answered, and what the gateway answers in its place. */
function toResponses(
  method: string,
  examples: readonly Example[],
  success?: Success & { status: number },
): Responses {
  const fromGateway = GATEWAY.filter(({ methods }) => methods?.includes(method) ?? true);
  const statuses = [
    ...examples.map(({ response }) => response.statusCode),
    ...fromGateway.map(({ reply }) => reply.status),
  ];
  const respond = (status: number): Response | Reference => {
    const own = examples.filter(({ response }) => response.statusCode === status);
    const others = fromGateway.filter(({ reply }) => reply.status === status);
    const [{ shared } = {}] = others;
    return own.length === 0 && shared !== undefined
      ? reference(shared, 'responses')
      : toResponse(own, others, status === success?.status ? success : undefined);
  };
  return Object.fromEntries(
    [...new Set(statuses)].toSorted((a, b) => a - b).map((status) => [String(status), respond(status)]),
  );
}

function toResponse(
  examples: readonly Example[],
  fromGateway: readonly GatewayAnswer[],
  success: Success | undefined,
): Response {
  const answered = examples.map(({ name, when, response }) => ({
    name,
    when,
    value: JSON.parse(response.body) as { error?: string },
  }));
  const shapes = [
    ...(answered.length > 0 ? [success?.schema ?? contract.errorResponseBodySchema] : []),
    ...(fromGateway.length > 0 ? [reference(GATEWAY_REPLY)] : []),
  ].map(toSchema);
  const [shape = {}] = shapes;
  const codes = [...new Set(answered.map(({ value }) => value.error).filter((code) => code !== undefined))];
  const clauses = [
    ...(answered.length > 0
      ? [`${codes.map((code) => `\`${code}\`: `).join('')}${answered.map(({ when }) => when).join('; ')}`]
      : []),
    ...(fromGateway.length > 0
      ? [`from the gateway: ${fromGateway.map(({ when }) => when).join('; ')}`]
      : []),
  ];
  return {
    description: success?.text ?? clauses.map(toSentence).join(' '),
    headers: toHeaders(examples, fromGateway, success),
    content: {
      'application/json': {
        schema: shapes.length > 1 ? { anyOf: shapes } : shape,
        examples: Object.fromEntries([
          ...answered.map(({ name, when, value }) => [name, { summary: toSentence(when), value }] as const),
          ...fromGateway.map(
            ({ reply: { message }, when }) =>
              ['gateway', { summary: toSentence(when), value: { message } }] as const,
          ),
        ]),
      },
    },
  };
}

/** What is said of each header the service sends; `Content-Type` is said by the content (OpenAPI 3.1, "Response Object"). */
const HEADERS: Record<string, Pick<Header, 'description' | 'schema'>> = {
  'Access-Control-Allow-Origin': {
    description: 'The one origin of the stage from which browsers may call.',
    schema: { type: 'string' },
  },
  'Cache-Control': {
    description: 'From the gateway: inquiries are for no cache (RFC 9111, 5.2.2.5).',
    schema: { type: 'string', const: 'no-store' },
  },
  Allow: { description: 'The methods that are operations (RFC 9110, 10.2.1).', schema: { type: 'string' } },
  Link: {
    description:
      'There when older inquiries remain: a query-only reference to them, `limit` repeated (RFC 8288). Without it the list ' +
      'is complete.',
    schema: { type: 'string', pattern: '^<\\?before=[0-9a-f-]{36}(&limit=[0-9]{1,4})?>; rel="next"$' },
  },
  'WWW-Authenticate': {
    description: 'There when the gateway refused: what is wrong with the token (RFC 6750, 3).',
    schema: { type: 'string' },
  },
};

/** A header is required when every example carries it and the gateway never answers in the function's place. */
function toHeaders(
  examples: readonly Example[],
  fromGateway: readonly GatewayAnswer[],
  success: Success | undefined,
): Record<string, Header> {
  const sent = examples.map(({ response }) => response.headers);
  const names = new Set([
    ...sent.flatMap((headers) => Object.keys(headers)),
    'Access-Control-Allow-Origin',
    ...(success ? ['Cache-Control'] : []),
    ...(fromGateway.some(({ reply }) => reply === replies.unauthorized) ? ['WWW-Authenticate'] : []),
  ]);
  names.delete('Content-Type');
  return Object.fromEntries(
    [...names].map((name) => {
      const header = HEADERS[name];
      if (header === undefined) throw new Error(`The header ${name} is not described.`);
      const required = fromGateway.length === 0 && sent.every((headers) => name in headers);
      const example = sent.find((headers) => name in headers)?.[name];
      return [name, { ...header, ...(required && { required }), ...(example !== undefined && { example }) }];
    }),
  );
}

/** A schema as it is used: those that have a name are references to it. */
function toSchema(schema: Schema): Schema {
  const refer = (value: unknown): unknown => {
    const name = NAMED.get(value);
    if (name !== undefined) return reference(name);
    if (Array.isArray(value)) return value.map(refer);
    return typeof value === 'object' && value !== null ? mapValues(value, refer) : value;
  };
  return refer(schema) as Schema;
}

/** A schema as it is defined under its name. */
function toDefinition(schema: Schema): Schema {
  return mapValues(schema, (part) => (typeof part === 'object' ? toSchema(part as Schema) : part));
}

function mapValues(object: object, map: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

/** Query parameters from the properties of an object schema; none is required. */
function toParameters({ properties }: typeof contract.listQuerySchema): Parameter[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
}

function toMegabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MB`;
}

function toSentence(clause: string): string {
  return `${clause.replace(/^[a-z]/, (letter) => letter.toUpperCase())}.`;
}
