/** Events of payload format 2.0, for whatever invokes the function. */
import { inquiriesPath } from './contract.ts';

interface Request {
  method: unknown;
  path?: string;
  /** Without the question mark. */
  query?: string;
  headers?: object;
  /** The token's claims; undefined if no authorizer ran. */
  claims?: unknown;
  body?: unknown;
  isBase64Encoded?: unknown;
}

/** Source: API Gateway Developer Guide, "Create AWS Lambda proxy integrations for HTTP APIs". */
export function createGatewayEvent({
  method,
  path = inquiriesPath,
  query = '',
  headers = { 'content-type': 'application/json' },
  claims,
  body,
  isBase64Encoded = false,
}: Request) {
  const parameters = new URLSearchParams(query);
  return {
    version: '2.0',
    routeKey: `${String(method)} ${path}`,
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(parameters.size > 0 && {
      queryStringParameters: Object.fromEntries(
        [...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(',')]),
      ),
    }),
    requestContext: {
      ...(claims !== undefined && { authorizer: { jwt: { claims, scopes: null } } }),
      http: { method, path },
    },
    ...(body !== undefined && { body }),
    isBase64Encoded,
  };
}
