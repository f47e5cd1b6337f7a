/** The benchmark's database: an engine behind TLS, as on AWS, with lists of known length in its table. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { createServer } from 'node:tls';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { generate } from 'selfsigned';
import { V7Generator } from 'uuidv7';
import { startEngine } from '../local/database/engines.ts';
import { listen } from '../lib/loopback-server.ts';
import { createClient, createTable } from '../local/database/table.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';

export const CORS_ORIGIN = 'https://www.example.com';
const TABLE = 'inquiries-bench';
const IDEMPOTENCY_TABLE = 'inquiries-bench-idempotency';
/** The most inquiries with this message that fit into one response (468 bytes each, less the function's margin). */
const FULLEST = 13_300;

export interface Owner {
  sub: string;
  email: string;
}

/** An owner and the number of their inquiries. */
export interface SeededOwner extends Owner {
  count: number;
}

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Starts the engine and the TLS proxy, and fills the table. */
export async function startDatabase() {
  await using resources = new AsyncDisposableStack();
  const engine = await startEngine('dynamodb-local');
  resources.defer(() => engine.close());
  await createTable(engine.url, TABLE);
  // The table of Powertools' idempotency, as its documentation defines it.
  await createTable(engine.url, IDEMPOTENCY_TABLE, {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    GlobalSecondaryIndexes: undefined,
  });
  const owners = await seed(engine.url);

  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  // An RSA key of 2048 bits, like DynamoDB's.
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keySize: 2048,
  });
  const certificateFile = join(folder, 'certificate.pem');
  writeFileSync(certificateFile, cert);
  const { host, port: enginePort } = new URL(engine.url);
  const proxy = createServer({ cert, key }, (incoming) => {
    const outgoing = connect({ port: Number(enginePort), host: '127.0.0.1', noDelay: true });
    // The engine answers under its own name only.
    const rename = new Transform({
      transform(chunk: Buffer, _, done) {
        const renamed = chunk.toString('latin1').replace(`localhost:${port}`, host);
        done(null, Buffer.from(renamed, 'latin1'));
      },
    });
    incoming.setNoDelay(true);
    pipeline(incoming, rename, outgoing, incoming, () => undefined);
  });
  // A contender may be killed during its handshake.
  proxy.on('tlsClientError', () => undefined);
  const port = await listen(proxy, 0);
  resources.defer(() => void proxy.close());

  const started = resources.move();
  return {
    /** Environment variables of a function that uses it. */
    environment: {
      TABLE_NAME: TABLE,
      IDEMPOTENCY_TABLE_NAME: IDEMPOTENCY_TABLE,
      CORS_ORIGIN,
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: certificateFile,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'ASIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
      // Role credentials come with a session token of about this length.
      AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2VjEExample'.repeat(40),
    },
    owners,
    close: () => started.disposeAsync(),
  };
}

/** A usual message of a contact form: 34 and 205 characters, one line break and two quotation marks. */
export const MESSAGE = {
  subject: 'Question about my order no. 482913',
  body:
    'Hello,\nI ordered the "walnut" desk on the third of the month and have not yet received a notice of ' +
    'dispatch. Could you tell me when it will arrive, and whether an address in Austria is possible? Thank you!',
};

/** @returns Owners of ten inquiries, and of as many as fit into one response. */
async function seed(endpoint: string) {
  const client = DynamoDBDocumentClient.from(createClient(endpoint));
  const entity = createInquiryEntity(TABLE, client);
  const generator = new V7Generator();

  const fill = async (owner: Owner, count: number): Promise<SeededOwner> => {
    const { sub: cognito_sub, email } = owner;
    const inquiries = Array.from({ length: count }, (_, index) => {
      const time = Date.UTC(2026, 0, 1, 0, index);
      const id = generator.generateOrResetWithTs(time).toString();
      return { id, cognito_sub, email, ...MESSAGE, created_at: new Date(time).toISOString() };
    });
    await entity.put(inquiries).go();
    return { ...owner, count };
  };
  const owners = {
    ten: await fill(makeOwner(1), 10),
    fullest: await fill(makeOwner(2), FULLEST),
  };
  client.destroy();
  return owners;
}

/** A different owner for each number. */
export const makeOwner = (number: number): Owner => ({
  sub: `5f1de0c2-8a3b-4c6d-9e7f-${String(number).padStart(12, '0')}`,
  email: `user-${String(number).padStart(6, '0')}@example.com`,
});
