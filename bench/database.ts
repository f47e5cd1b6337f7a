/** The database of the benchmark: an engine behind TLS as in AWS, and lists of known length in its table. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { V7Generator } from 'uuidv7';
import { startEngine, dynamoDbLocalUnavailableReason } from '../scripts/local/dynamodb.ts';
import { listen } from '../scripts/local/server.ts';
import { createTable } from '../scripts/local/table.ts';
import { createInquiryEntity } from '../src/entities/inquiry.ts';

const TABLE = 'inquiries-bench';
/** Lambda's limit on a response in bytes: the returned object as JSON, in which the body is an escaped string. */
const RESPONSE_LIMIT = 6_291_556;
/** Kept free for the rest of the response: what the function's own budget keeps free, and two inquiries more. */
const RESPONSE_RESERVE = 65 * 1024;

export interface Owner {
  readonly sub: string;
  readonly email: string;
}

/** An owner and how many inquiries he has. */
export interface SeededOwner extends Owner {
  readonly count: number;
}

export interface Database {
  /** DynamoDB Local or dynalite. */
  readonly engine: string;
  /** What a function needs in its environment to use it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Owners with 10, 100 and 1,000 inquiries, and with the most that fit into one response. */
  readonly owners: Readonly<Record<'ten' | 'hundred' | 'thousand' | 'fullest', SeededOwner>>;
  close(): Promise<void>;
}

/** Starts the engine, the proxy with the TLS certificate, and fills the table. */
export async function startDatabase(): Promise<Database> {
  await using resources = new AsyncDisposableStack();
  const engine = await startEngine(
    dynamoDbLocalUnavailableReason() === undefined ? 'dynamodb-local' : 'dynalite',
  );
  resources.defer(() => engine.close());
  await createTable(engine.url, TABLE);
  const owners = await seed(engine.url);

  const folder = mkdtempSync(join(tmpdir(), 'inquiries-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  const certificate = createCertificate(folder);
  const { port, stop } = await startTlsProxy(certificate, Number(new URL(engine.url).port));
  resources.defer(stop);

  const started = resources.move();
  return {
    engine: engine.name,
    environment: {
      TABLE_NAME: TABLE,
      CORS_ORIGIN: 'https://www.example.com',
      AWS_ENDPOINT_URL_DYNAMODB: `https://localhost:${port}`,
      NODE_EXTRA_CA_CERTS: certificate.certificateFile,
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

interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** A certificate for localhost with an RSA key of 2048 bits, as DynamoDB's. */
function createCertificate(folder: string): Certificate {
  const certificateFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -batch'
      .split(' ')
      .concat('-keyout', keyFile, '-out', certificateFile),
    { stdio: 'pipe' },
  );
  return { certificateFile, keyFile };
}

async function startTlsProxy(
  { certificateFile, keyFile }: Certificate,
  target: number,
): Promise<{ port: number; stop: () => void }> {
  const server = createTlsServer(
    { cert: readFileSync(certificateFile), key: readFileSync(keyFile) },
    (incoming) => {
      const outgoing = connect({ port: target, host: '127.0.0.1', noDelay: true });
      incoming.setNoDelay(true);
      incoming.pipe(outgoing).pipe(incoming);
      for (const [one, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
      }
    },
  );
  // A killed process ends its handshake in the middle.
  server.on('tlsClientError', () => undefined);
  const port = await listen(server, 0);
  return { port, stop: () => void server.close() };
}

/** A contact form's usual message: 34 and 205 characters, one line break and two quotation marks. */
export const MESSAGE = {
  subject: 'Question about my order no. 482913',
  body:
    'Hello,\nI ordered the "walnut" desk on the third of the month and have not yet received a notice of ' +
    'dispatch. Could you tell me when it will arrive, and whether an address in Austria is possible? Thank you!',
};

async function seed(endpoint: string): Promise<Database['owners']> {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  );
  const entity = createInquiryEntity(TABLE);
  const generator = new V7Generator();
  const from = Date.UTC(2026, 0, 1);

  const fill = async (owner: Owner, count: number): Promise<SeededOwner> => {
    const items = Array.from({ length: count }, (_, index) => {
      const time = from + index * 60_000;
      return entity
        .put({
          id: generator.generateOrResetWithTs(time).toString(),
          cognito_sub: owner.sub,
          email: owner.email,
          ...MESSAGE,
          created_at: new Date(time).toISOString(),
        })
        .params<{ Item: Record<string, unknown> }>().Item;
    });
    // 25 is what one request may write.
    const batches = Array.from({ length: Math.ceil(count / 25) }, (_, index) =>
      items.slice(index * 25, (index + 1) * 25),
    );
    for (const batch of batches) {
      await client.send(
        new BatchWriteCommand({
          RequestItems: { [TABLE]: batch.map((Item) => ({ PutRequest: { Item } })) },
        }),
      );
    }
    return { ...owner, count };
  };

  try {
    return {
      ten: await fill(makeOwner(1), 10),
      hundred: await fill(makeOwner(2), 100),
      thousand: await fill(makeOwner(3), 1_000),
      fullest: await fill(makeOwner(4), countThatFits(makeOwner(4))),
    };
  } finally {
    client.destroy();
  }
}

/** An owner of his own for each number. */
export function makeOwner(number: number): Owner {
  return {
    sub: `5f1de0c2-8a3b-4c6d-9e7f-${String(number).padStart(12, '0')}`,
    email: `user-${String(number).padStart(6, '0')}@example.com`,
  };
}

function countThatFits({ sub, email }: Owner): number {
  const inquiry = { id: sub, cognito_sub: sub, email, ...MESSAGE, created_at: '2026-01-01T00:00:00.000Z' };
  // JSON in a JSON string; its quotation marks stand for the comma.
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(inquiry)));
  return Math.floor((RESPONSE_LIMIT - RESPONSE_RESERVE) / bytes);
}
