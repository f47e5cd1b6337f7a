/**
 * The least work: requests to DynamoDB, signed by hand and sent with fetch, without packages. It is primed at
 * initialisation.
 */
import { createHash, createHmac, randomUUIDv7 } from 'node:crypto';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';
import {
  linkTo,
  LIST_BUDGET,
  parseListQuery,
  parseOwner,
  parseRequest,
  Refusal,
  respond,
  respondToError,
  type ListQuery,
  type Message,
  type Owner,
} from './shared/requests.ts';

const {
  TABLE_NAME = '',
  AWS_REGION = '',
  AWS_ACCESS_KEY_ID = '',
  AWS_SECRET_ACCESS_KEY = '',
  AWS_SESSION_TOKEN = '',
  AWS_ENDPOINT_URL_DYNAMODB = `https://dynamodb.${AWS_REGION}.amazonaws.com`,
} = process.env;
const HOST = new URL(AWS_ENDPOINT_URL_DYNAMODB).host;

/** An inquiry in DynamoDB's JSON. */
type Item = Record<
  'id' | 'cognito_sub' | 'email' | 'subject' | 'body' | 'created_at',
  { S: string }
>;

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
let signingKey: { day: string; key: Buffer } = { day: '', key: Buffer.alloc(0) };

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
    host: HOST,
    'x-amz-date': time,
    'x-amz-security-token': AWS_SESSION_TOKEN,
    'x-amz-target': `DynamoDB_20120810.${operation}`,
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = `POST\n/\n\n${lines.join('')}\n${names}\n${hash(body)}`;
  const scope = `${day}/${AWS_REGION}/dynamodb/aws4_request`;
  const signature = createHmac('sha256', signingKey.key)
    .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash(canonical)}`)
    .digest('hex');
  const response = await fetch(AWS_ENDPOINT_URL_DYNAMODB, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `AWS4-HMAC-SHA256 Credential=${AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`DynamoDB: ${response.status} ${await response.text()}`);
  return response.json();
}

const partition = ({ cognito_sub, email }: Owner): string =>
  `$inquiries#cognito_sub_${cognito_sub}#email_${email}`;

async function list(owner: Owner, { limit, before }: ListQuery) {
  const inquiries: string[] = [];
  const finish = (headers?: Record<string, string>) =>
    respond(
      200,
      `{"email":${JSON.stringify(owner.email)},"count":${inquiries.length},"inquiries":[${inquiries.join()}]}`,
      headers,
    );
  const pk = { S: partition(owner) };
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
    for (const { id, cognito_sub, email, subject, body, created_at } of page.Items) {
      const inquiry = JSON.stringify({
        id: id.S,
        cognito_sub: cognito_sub.S,
        email: email.S,
        subject: subject.S,
        body: body.S,
        created_at: created_at.S,
      });
      size += Buffer.byteLength(JSON.stringify(inquiry));
      if (inquiries.length > 0 && (inquiries.length === limit || size > LIST_BUDGET)) {
        return finish(linkTo(last, limit));
      }
      inquiries.push(inquiry);
      last = id.S;
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return finish();
}

async function create(owner: Owner, { subject, body }: Message) {
  const id = randomUUIDv7();
  const inquiry = {
    id,
    ...owner,
    subject: subject.toWellFormed(),
    body: body.toWellFormed(),
    created_at: new Date().toISOString(),
  };
  const item = {
    ...inquiry,
    pk: partition(owner),
    sk: `$inquiry_1#id_${id}`,
    inbox: `open-${id.slice(-1)}`,
    __edb_e__: 'inquiry',
    __edb_v__: '1',
  };
  const Item = Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, { S: value }]),
  );
  await send('PutItem', { TableName: TABLE_NAME, Item });
  return respond(201, { inquiry });
}

async function respondTo(event: APIGatewayProxyEventV2WithJWTAuthorizer) {
  const owner = parseOwner(event.requestContext.authorizer?.jwt?.claims);
  switch (event.requestContext.http.method) {
    case 'GET':
      return list(owner, parseListQuery(event.queryStringParameters));
    case 'POST':
      return create(owner, parseRequest(event.body));
    default:
      throw new Refusal(405, 'METHOD_NOT_ALLOWED');
  }
}

export const handler = async (event: APIGatewayProxyEventV2WithJWTAuthorizer) =>
  respondTo(event).catch(respondToError);

const warmUpOwner = { cognito_sub: '00000000-0000-0000-0000-000000000000', email: '-' };
await list(warmUpOwner, { limit: 1 }).catch(() => undefined);
