/** Starts DynamoDB Local behind TLS, with lists of known length. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { generate } from 'selfsigned';
import { V7Generator } from 'uuidv7';
import { closeServer, listen } from '../lib/pages/loopback-server.ts';
import { startEngine } from '../local/database/engines.ts';
import { createClient, createTable } from '../local/database/table.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';

export const CORS_ORIGIN = 'https://www.example.com';
const TABLE = 'inquiries-bench';
const IDEMPOTENCY_TABLE = 'inquiries-bench-idempotency';
/** The most inquiries with this message that fit into a response: 468 bytes each, less the function's margin. */
const FULLEST = 13_300;

/** A message of typical length. */
export const MESSAGE = {
  subject: 'Question about my order no. 482913',
  body:
    'Hello,\nI ordered the "walnut" desk on the third of the month and have not yet received a notice of ' +
    'dispatch. Could you tell me when it will arrive, and whether an address in Austria is possible? Thank you!',
};

export interface Owner {
  sub: string;
  email: string;
  count: number;
}

let owners = 0;
export const makeOwner = (count = 0): Owner => {
  const number = String(++owners);
  return {
    sub: `5f1de0c2-8a3b-4c6d-9e7f-${number.padStart(12, '0')}`,
    email: `user-${number.padStart(6, '0')}@example.com`,
    count,
  };
};

export async function startDatabase(resources: AsyncDisposableStack) {
  const engine = await startEngine('dynamodb-local');
  resources.defer(() => engine.close());
  await createTable(engine.url, TABLE);
  // Powertools' documentation has these keys.
  await createTable(engine.url, IDEMPOTENCY_TABLE, {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    GlobalSecondaryIndexes: undefined,
  });

  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  // DynamoDB's own certificate has these properties.
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keySize: 2048,
  });
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, cert);
  const proxy = createServer({ cert, key }, (incoming, response) => {
    const { method, headers } = incoming;
    // The engine answers only under its own name.
    const options = { method, headers: { ...headers, host: new URL(engine.url).host } };
    const outgoing = request(engine.url, options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  const port = await listen(proxy, 0);
  resources.defer(() => closeServer(proxy));

  return {
    environment: {
      TABLE_NAME: TABLE,
      IDEMPOTENCY_TABLE_NAME: IDEMPOTENCY_TABLE,
      CORS_ORIGIN,
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: certificateFile,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'ASIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
      // About the length of a role's session token.
      AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2VjEExample'.repeat(40),
    },
    ofTen: await fill(engine.url, makeOwner(10)),
    ofFullest: await fill(engine.url, makeOwner(FULLEST)),
  };
}

async function fill(endpoint: string, owner: Owner): Promise<Owner> {
  const client = createClient(endpoint);
  const entity = createInquiryEntity(TABLE, DynamoDBDocumentClient.from(client));
  const generator = new V7Generator();
  const { sub: cognito_sub, email, count } = owner;
  const inquiries = Array.from({ length: count }, (_, index) => {
    const time = Date.UTC(2026, 0, 1, 0, index);
    const id = generator.generateOrResetWithTs(time).toString();
    return { id, cognito_sub, email, ...MESSAGE, created_at: new Date(time).toISOString() };
  });
  await entity.put(inquiries).go();
  client.destroy();
  return owner;
}
