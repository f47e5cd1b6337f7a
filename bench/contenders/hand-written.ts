/**
 * The floor for doing the work at all: requests to DynamoDB signed by hand and sent with fetch; no SDK, no
 * ElectroDB, no package. Primed at initialisation.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { APIGatewayProxyEventV2WithJWTAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

const {
  TABLE_NAME = '',
  CORS_ORIGIN = '',
  AWS_REGION = '',
  AWS_ACCESS_KEY_ID = '',
  AWS_SECRET_ACCESS_KEY = '',
  AWS_SESSION_TOKEN = '',
  AWS_ENDPOINT_URL_DYNAMODB = `https://dynamodb.${AWS_REGION}.amazonaws.com`,
} = process.env;
const HOST = new URL(AWS_ENDPOINT_URL_DYNAMODB).host;
const ITEM_LIMIT = 400 * 1024;
/** Attribute names, keys and the fixed values of an item, and some bytes more. */
const ITEM_OVERHEAD = 480;

/** One item as DynamoDB's JSON has it. */
type Item = Record<'id' | 'cognito_sub' | 'email' | 'subject' | 'body' | 'created_at', { S: string }>;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
let signingKey: { day: string; key: Buffer } = { day: '', key: Buffer.alloc(0) };

/** Signature version 4. */
async function send(operation: string, input: object): Promise<unknown> {
  const body = JSON.stringify(input);
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  if (signingKey.day !== day) {
    const parts = [AWS_REGION, 'dynamodb', 'aws4_request'];
    signingKey = { day, key: parts.reduce(hmac, hmac(`AWS4${AWS_SECRET_ACCESS_KEY}`, day)) };
  }
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-date': time,
    'x-amz-security-token': AWS_SESSION_TOKEN,
    'x-amz-target': `DynamoDB_20120810.${operation}`,
  };
  const canonical =
    `POST\n/\n\ncontent-type:${headers['content-type']}\nhost:${HOST}\nx-amz-date:${time}\n` +
    `x-amz-security-token:${AWS_SESSION_TOKEN}\nx-amz-target:${headers['x-amz-target']}\n\n` +
    `content-type;host;x-amz-date;x-amz-security-token;x-amz-target\n${hash(body)}`;
  const scope = `${day}/${AWS_REGION}/dynamodb/aws4_request`;
  const signature = createHmac('sha256', signingKey.key)
    .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash(canonical)}`)
    .digest('hex');
  const response = await fetch(AWS_ENDPOINT_URL_DYNAMODB, {
    method: 'POST',
    headers: {
      ...headers,
      authorization:
        `AWS4-HMAC-SHA256 Credential=${AWS_ACCESS_KEY_ID}/${scope}, ` +
        `SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=${signature}`,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`DynamoDB answered ${response.status}`);
  return response.json();
}

const partition = (sub: string, email: string): string => `$inquiries#cognito_sub_${sub}#email_${email}`;

/** Bytes that a list may take of Lambda's 6 MB, in which the body is an escaped string. */
const LIST_BUDGET = 6_291_556 - 64 * 1024;

interface ListQuery {
  readonly limit: number | undefined;
  readonly before: string | undefined;
}

/** The body of the response, put together from each inquiry's JSON, and a Link header where more remain. */
async function list(sub: string, email: string, { limit, before }: ListQuery) {
  const inquiries: string[] = [];
  const finish = (headers: Record<string, string> = {}) => ({
    headers,
    body: `{"email":${JSON.stringify(email)},"count":${inquiries.length},"inquiries":[${inquiries.join()}]}`,
  });
  const pk = { S: partition(sub, email) };
  let ExclusiveStartKey: unknown = before && { pk, sk: { S: `$inquiry_1#id_${before}` } };
  let size = 0;
  let last = '';
  do {
    const page = (await send('Query', {
      TableName: TABLE_NAME,
      KeyConditionExpression: 'pk = :p and begins_with(sk, :s)',
      ProjectionExpression: 'id, cognito_sub, email, subject, body, created_at',
      ExpressionAttributeValues: { ':p': pk, ':s': { S: '$inquiry_1#id_' } },
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit: limit && limit + 1,
      ExclusiveStartKey,
    })) as { Items: Item[]; LastEvaluatedKey?: unknown };
    for (const { id, cognito_sub, email: owner, subject, body, created_at } of page.Items) {
      const inquiry = JSON.stringify({
        id: id.S,
        cognito_sub: cognito_sub.S,
        email: owner.S,
        subject: subject.S,
        body: body.S,
        created_at: created_at.S,
      });
      size += Buffer.byteLength(JSON.stringify(inquiry));
      if (inquiries.length > 0 && (inquiries.length === limit || size > LIST_BUDGET)) {
        return finish({ Link: `<?before=${last}${limit ? `&limit=${limit}` : ''}>; rel="next"` });
      }
      inquiries.push(inquiry);
      last = id.S;
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return finish();
}

async function create(sub: string, email: string, subject: string, body: string): Promise<object> {
  const now = Date.now();
  const id = createId(now);
  const inquiry = { id, cognito_sub: sub, email, subject, body, created_at: new Date(now).toISOString() };
  const item = {
    ...inquiry,
    pk: partition(sub, email),
    sk: `$inquiry_1#id_${id}`,
    __edb_e__: 'inquiry',
    __edb_v__: '1',
  };
  const Item = Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: value }]));
  await send('PutItem', { TableName: TABLE_NAME, Item });
  return inquiry;
}

/** UUID version 7 with 74 random bits. */
function createId(milliseconds: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(milliseconds, 0, 6);
  bytes[6] = 0x70 | (bytes.readUInt8(6) & 0x0f);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const handler = async (
  event: APIGatewayProxyEventV2WithJWTAuthorizer,
): Promise<APIGatewayProxyStructuredResultV2> => {
  try {
    const { method } = event.requestContext.http;
    if (method !== 'GET' && method !== 'POST') {
      return respond(
        405,
        { error: 'METHOD_NOT_ALLOWED', message: 'Allowed: GET, POST' },
        { Allow: 'GET, POST' },
      );
    }
    const { email, sub } = event.requestContext.authorizer?.jwt?.claims ?? {};
    if (typeof email !== 'string' || email === '' || typeof sub !== 'string' || !UUID.test(sub)) {
      return respond(401, { error: 'Unauthorized', message: 'Invalid or missing required JWT claims' });
    }
    const owner = sub.toLowerCase();
    if (method === 'GET') {
      const { limit, before } = event.queryStringParameters ?? {};
      if (
        (limit !== undefined && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 1_000)) ||
        (before !== undefined && !UUID.test(before))
      ) {
        return respond(400, { error: 'BAD_REQUEST', message: 'Bad limit or before' });
      }
      const query = { limit: limit === undefined ? undefined : Number(limit), before };
      const { headers, body } = await list(owner, email, query);
      return respondJson(200, body, headers);
    }

    if (event.body === undefined) return respond(400, { error: 'BAD_REQUEST', message: 'No body' });
    const text = event.isBase64Encoded ? Buffer.from(event.body, 'base64').toString() : event.body;
    const { subject, body } = (JSON.parse(text) ?? {}) as { subject?: unknown; body?: unknown };
    if (typeof subject !== 'string' || typeof body !== 'string') {
      return respond(400, { error: 'BAD_REQUEST', message: 'subject and body must be strings' });
    }
    const size = Buffer.byteLength(subject) + Buffer.byteLength(body) + 2 * Buffer.byteLength(email);
    if (size + ITEM_OVERHEAD > ITEM_LIMIT) {
      return respond(413, { error: 'PAYLOAD_TOO_LARGE', message: 'Inquiry too large' });
    }
    return respond(201, {
      inquiry: await create(owner, email, subject.toWellFormed(), body.toWellFormed()),
    });
  } catch (error) {
    console.error(error instanceof Error ? error.name : 'Error');
    return respond(500, { error: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
  }
};

const respond = (statusCode: number, body: object, headers: Record<string, string> = {}) =>
  respondJson(statusCode, JSON.stringify(body), headers);

const respondJson = (
  statusCode: number,
  body: string,
  headers: Record<string, string>,
): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': CORS_ORIGIN, ...headers },
  body,
});

const nobody = '00000000-0000-0000-0000-000000000000';
await list(nobody, '-', { limit: 1, before: undefined }).catch(() => undefined);
