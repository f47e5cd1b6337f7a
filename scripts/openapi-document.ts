/**
 * Schemas and paths come from src/contract.ts, limits and the gateway's messages from lib/contract/gateway-replies.ts.
 * tests/function/contract.test.ts replays every example and status. docs/adr/0040
 */
import * as contract from '../src/contract.ts';
import * as errors from '../src/errors.ts';
import { ITEM_LIMIT } from '../src/limits.ts';
import { limits, replies } from '../lib/contract/gateway-replies.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;
const itemLimit = `${ITEM_LIMIT / 1024} KB`;
const headerLimit = `${limits.headers.toLocaleString('en')} bytes`;
const bodyLimit = toMegabytes(limits.body);
const payloadLimit = toMegabytes(limits.lambdaPayload);
const timeout = `${limits.timeout / 1000} seconds`;

const referTo = (component: string) => ({ $ref: `#/components/${component}` });

const allowOrigin = {
  description: 'The only origin from which browsers may call, set for each stage.',
  schema: { type: 'string' },
  example: 'https://www.example.com',
};
/** The header is optional: API Gateway sends it only to requests with an Origin. */
const cors = {
  'Access-Control-Allow-Origin': referTo('headers/AllowOrigin'),
};
const corsAndChallenge = {
  ...cors,
  'WWW-Authenticate': {
    description: 'Present when the gateway rejects the token: what is wrong with it (RFC 6750, 3).',
    schema: { type: 'string' },
  },
};
const functionCors = {
  'Access-Control-Allow-Origin': referTo('headers/AllowOriginOfFunction'),
};
const always = (value: string, description: string) =>
  ({ description, schema: { type: 'string', const: value } }) as const;
const cacheControl = {
  'Cache-Control': always(
    'no-store',
    'Set by the gateway: inquiries must not be cached (RFC 9111, 5.2.2.5).',
  ),
};
/** RFC 9110, 10.2.3. */
const retryAfter = (description: string) => ({
  'Retry-After': {
    description,
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,3}$' },
    example: '1',
  },
});

const errorBody = referTo('schemas/ErrorResponseBody');
const errorBodyOrGatewayReply = referTo('schemas/ErrorResponseBodyOrGatewayReply');
const byGateway = {
  '413': referTo('responses/RequestTooLarge'),
  '429': referTo('responses/TooManyRequests'),
  '431': referTo('responses/HeadersTooLarge'),
  '503': referTo('responses/Unavailable'),
};
/** The gateway answers 401 before the function, which checks claims. */
const common = { ...byGateway, '401': referTo('responses/Unauthorized') };

const { before: _, ...repeated } = contract.listQuerySchema.properties;
const repeatedPattern = Object.keys(repeated).map((name) => `(&${name}=[^&>]+)?`);

const email = 'ana@example.com';
const opening = {
  id: '01a1f830-08e0-7000-8000-000000000000',
  cognito_sub: '1daae433-47cc-48ff-bf9b-73f530b9d7bc',
  email,
  subject: 'Opening hours',
  body: '',
  created_at: '2026-11-20T09:01:00.000Z',
};
const hello = {
  ...opening,
  id: '01a1f82f-1e80-7000-8000-000000000000',
  subject: 'Hello',
  body: 'Is anyone there?',
  created_at: '2026-11-20T09:00:00.000Z',
};

/** @param server - Its base URL without `/inquiries`. */
export function createDocument(server: { url: string; description: string }, version: string) {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Inquiry service',
      version,
      description:
        'Signed-in users submit contact-form inquiries and list their own.\n\n' +
        'An API gateway validates the token and passes requests to a function. Errors of the function have the body ' +
        '`{error, message}`, errors of the gateway `{message}`. The gateway answers 404 to any path other than ' +
        `\`${contract.inquiriesPath}\` and to methods that it does not route; it answers CORS preflight requests itself, without ` +
        'a token. Routed methods other than GET and POST get 405 with `Allow`.\n\n' +
        `Limits: ${headerLimit} for request line and headers; ${payloadLimit} for the request and for the response as ` +
        `the function receives and returns them; ${itemLimit} for an inquiry, in UTF-8 with its email counted twice; ` +
        `${timeout} for the response.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [server],
    security: [{ bearer: [] }],
    tags: [{ name: 'Inquiries', description: 'Inquiries can be created and listed, not changed.' }],
    paths: {
      [contract.inquiriesPath]: {
        get: {
          operationId: 'listInquiries',
          summary: 'List your inquiries',
          description:
            'Returns the inquiries whose `cognito_sub` and `email` both equal the claims of the token, newest first, as ' +
            'many as fit into one response. When older ones remain, `Link` leads to them.',
          parameters: Object.entries(contract.listQuerySchema.properties).map(
            ([name, { description, ...schema }]) => ({ name, in: 'query', description, schema }),
          ),
          tags: ['Inquiries'],
          responses: {
            ...common,
            '200': {
              description: 'Your inquiries.',
              headers: {
                ...functionCors,
                Link: {
                  description:
                    'Present when older inquiries remain: a relative reference to them, with `limit` repeated (RFC 8288). ' +
                    'Its `before` is the id of the last inquiry of this page, so a client need not parse it. ' +
                    'Without it the list is complete.',
                  schema: {
                    type: 'string',
                    pattern: `^<\\?before=[0-9a-f-]{36}${repeatedPattern.join('')}>; rel="next"$`,
                  },
                  example: `<?before=${opening.id}&limit=1>; rel="next"`,
                },
                ...cacheControl,
              },
              content: json(referTo('schemas/InquiryListResponse'), {
                list: example('There are inquiries.', {
                  email,
                  count: 2,
                  inquiries: [opening, hello],
                }),
                page: example('Older ones remain, as with `limit=1` here.', {
                  email,
                  count: 1,
                  inquiries: [opening],
                }),
                empty: example('There are none.', { email, count: 0, inquiries: [] }),
              }),
            },
            '400': {
              ...errorOrReply('badRequest', '`BAD_REQUEST`: `limit` or `before` is malformed.', {
                limit: badRequest('The parameter `limit` must be a whole number from 1 to 1000.'),
                before: badRequest('The parameter `before` must be the id of an inquiry.'),
              }),
            },
            '500': {
              ...errorOrReply('internalError', '`INTERNAL_SERVER_ERROR`: internal error.', {
                fault: errors.internalError(),
              }),
            },
          },
        },
        post: {
          // Generators would name the response CreateInquiryResponse, which is a schema.
          operationId: 'submitInquiry',
          summary: 'Submit an inquiry',
          description:
            'Stores one inquiry for the user that the token names; the body cannot name another user. The body is read ' +
            'as JSON in UTF-8 whatever its content type; of duplicate keys the last one counts.\n\n' +
            'With `Idempotency-Key` an inquiry is stored once, however often the request is sent: after a lost response ' +
            'or a 5xx, send the same request with the same key again. Requests that were not processed (400, 401, 413, ' +
            '429 and a body that is not JSON) do not use up a key.\n\n' +
            'Mails about the inquiry are in the first language of `Accept-Language` that the service knows.',
          parameters: [
            {
              name: 'Idempotency-Key',
              in: 'header',
              description:
                'A key of your choice for this inquiry, such as a random UUID: 1 to 255 visible ASCII characters, as a ' +
                'quoted string (draft-ietf-httpapi-idempotency-key-header) or bare, which is the same key. Bare, it has no ' +
                'comma and does not begin with a quotation mark. It is yours alone, and is kept for 24 hours.',
              schema: contract.idempotencyKeySchema,
              example: '0f8fad5b-d9cb-469f-a165-70867728950e',
            },
          ],
          tags: ['Inquiries'],
          requestBody: {
            description:
              `Up to ${payloadLimit} as the function receives it, for an inquiry of up to ${itemLimit}. A body that is ` +
              'longer or has more JSON structure than any storable inquiry needs is rejected without being parsed.',
            required: true,
            content: json(referTo('schemas/CreateInquiryRequest'), {
              created: example('An inquiry.', { subject: hello.subject, body: hello.body }),
            }),
          },
          responses: {
            ...common,
            '201': {
              description:
                'The inquiry as it is stored. To a key that was used before: the first response again, whose body is the ' +
                'same byte for byte.',
              headers: {
                ...functionCors,
                ...cacheControl,
                [contract.replayedHeader]: always(
                  'true',
                  'Present when the inquiry was stored by an earlier request with the same key.',
                ),
              },
              content: json(referTo('schemas/CreateInquiryResponse'), {
                created: example('The inquiry is stored.', { inquiry: hello }),
              }),
            },
            '400': {
              ...errorOrReply(
                'badRequest',
                '`BAD_REQUEST`: there is no body, the JSON is not an object, a field is missing or not a string, or ' +
                  '`Idempotency-Key` is malformed, empty or repeated.',
                {
                  noBody: badRequest(
                    'The request has no body; the fields `subject` and `body` are missing.',
                  ),
                  noObject: badRequest(
                    'The request body must be a JSON object with the fields `subject` and `body`.',
                  ),
                  missing: badRequest('The field `body` is missing.'),
                  noString: badRequest('The field `subject` must be a string.'),
                  key: badRequest(
                    'The header `Idempotency-Key` must be one key of 1 to 255 visible ASCII characters.',
                  ),
                },
              ),
            },
            '409': {
              description:
                '`IDEMPOTENCY_CONFLICT`: a request with this key is being processed. Send it again.',
              headers: { ...functionCors, ...retryAfter('Seconds to wait.') },
              content: json(errorBody, toExamples({ conflict: errors.refusals['in use']() })),
            },
            '413': {
              ...errorOrReply(
                'payloadTooLarge',
                '`PAYLOAD_TOO_LARGE`: the inquiry, the body or the `email` claim is too large to be stored.',
                {
                  tooLarge: errors.refusals.inquiry(),
                  body: errors.bodyTooLarge(),
                  email: errors.refusals.email(),
                },
              ),
            },
            '422': {
              description:
                '`IDEMPOTENCY_KEY_REUSED`: the key was used for an inquiry with another text.',
              headers: functionCors,
              content: json(errorBody, toExamples({ reused: errors.refusals.reused() })),
            },
            '429': {
              ...errorOrReply(
                'tooManyRequests',
                '`TOO_MANY_REQUESTS`: you have sent as many inquiries within an hour as the stage allows. `TOO_MANY_AT_ONCE`: others of ' +
                  'your requests are being processed. A request whose key is known is still answered.',
                {
                  limit: errors.refusals.limit(60, 1),
                  busy: errors.refusals.busy(),
                },
              ),
              headers: {
                ...cors,
                ...retryAfter(
                  'Seconds until you may send the next inquiry. Not sent by the gateway.',
                ),
              },
            },
            '500': {
              ...errorOrReply(
                'internalError',
                '`INTERNAL_SERVER_ERROR`: the body is not JSON, or internal error.',
                {
                  noJson: errors.unparsableJson(undefined),
                  fault: errors.internalError(),
                },
              ),
            },
          },
        },
        'x-other-methods': {
          ...byGateway,
          '400': fromGateway('badRequest'),
          '401': fromGateway('unauthorized', corsAndChallenge),
          '404': fromGateway('notFound'),
          '405': {
            description: '`METHOD_NOT_ALLOWED`: the method is not an operation.',
            headers: {
              ...functionCors,
              Allow: {
                description: 'The methods that are operations (RFC 9110, 10.2.1).',
                schema: { type: 'string' },
                required: true,
                example: 'GET, POST',
              },
            },
            content: json(errorBody, toExamples({ method: errors.methodNotAllowed('GET, POST') })),
          },
          '500': fromGateway('internalError'),
        },
      },
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'An ID token of the user pool, with the claims `email` and `sub`. The gateway accepts it without `Bearer` too.',
        },
      },
      headers: {
        AllowOrigin: allowOrigin,
        AllowOriginOfFunction: { ...allowOrigin, required: true },
      },
      responses: {
        Unauthorized: {
          ...errorOrReply(
            'unauthorized',
            '`Unauthorized`: the token is valid but has no `email`, an empty one, or no `sub` that is a UUID.',
            { claims: errors.unauthorized() },
          ),
          headers: corsAndChallenge,
        },
        RequestTooLarge: fromGateway('payloadTooLarge'),
        TooManyRequests: fromGateway('tooManyRequests'),
        HeadersTooLarge: fromGateway('headersTooLarge'),
        Unavailable: fromGateway('unavailable'),
      },
      schemas: {
        CreateInquiryRequest: contract.createInquiryRequestSchema,
        CreateInquiryResponse: contract.createInquiryResponseSchema,
        ErrorResponseBody: contract.errorResponseBodySchema,
        InquiryListResponse: contract.inquiryListResponseSchema,
        // Generators such as ogen do not read `anyOf`.
        ErrorResponseBodyOrGatewayReply: {
          ...contract.errorResponseBodySchema,
          description: 'Replies that the gateway sends itself have no `error`.',
          required: ['message'],
        },
        Inquiry: contract.inquirySchema,
      },
    },
  };
}

const json = (schema: object, examples: object) => ({
  'application/json': { schema, examples },
});
const example = (summary: string, value: unknown) => ({
  summary,
  value,
});
const { badRequest } = errors;
type Errors = Record<string, errors.ApiError>;
const toExamples = (shown: Errors) =>
  Object.fromEntries(
    Object.entries(shown).map(([name, { code: error, message }]) => [
      name,
      { value: { error, message } },
    ]),
  );

const WHEN = {
  badRequest: 'the request is not valid HTTP',
  unauthorized: 'the token is missing or not valid',
  notFound: 'the method has no route',
  payloadTooLarge: `the body is over ${bodyLimit}, or over ${payloadLimit} as the function receives it`,
  tooManyRequests: 'the stage is throttled',
  headersTooLarge: `request line and headers are over ${headerLimit}`,
  internalError: 'the function failed',
  unavailable: `the function did not respond within ${timeout}`,
};
type GatewayReply = keyof typeof WHEN;
const describeReply = (name: GatewayReply) => `From the gateway: ${WHEN[name]}.`;
const toExample = (name: GatewayReply) => ({
  gateway: { value: { message: replies[name].message } },
});

const errorOrReply = (gateway: GatewayReply, description: string, shown: Errors) => ({
  description: `${description} ${describeReply(gateway)}`,
  headers: cors,
  content: json(errorBodyOrGatewayReply, { ...toExamples(shown), ...toExample(gateway) }),
});

const fromGateway = (gateway: GatewayReply, headers: object = cors) => ({
  description: describeReply(gateway),
  headers,
  content: json(errorBodyOrGatewayReply, toExample(gateway)),
});

function toMegabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MB`;
}
