/** Pages of other sites reach no engine, and acknowledged writes are committed. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { startEngine } from '../../local/database/engines.ts';
import { createFolder } from '../local/data-folder.ts';
import { describeOnEngines, DYNAMODB_ENDPOINT, whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { send } from '../local/http.ts';
import { unless } from '../helpers/needs.ts';
import { createOwnTable } from '../helpers/own-table.ts';
import { isHard } from '../resilience/selection.ts';

const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=local/20261122/local/dynamodb/aws4_request, SignedHeaders=host, Signature=x';
const JSON_TYPE = ['content-type', 'application/x-amz-json-1.0'];

describeOnEngines('a page of another site', (endpoint) => {
  const { host, port } = new URL(endpoint);
  const hosts = ['evil.example', 'localhost', '127.0.0.1.evil.example', '[::1]', '0.0.0.0'];
  const origins = ['https://evil.example', 'http://localhost', `https://${host}`, 'null', ''];
  const foreign = [
    ...hosts.map((other) => ['host', `${other}:${port}`]),
    ['host', '127.0.0.1'],
    ['host', `127.0.0.1:${Number(port) - 1}`],
    ...origins.map((origin) => ['origin', origin]),
    ['origin', endpoint, 'origin', 'https://evil.example'],
  ];

  const noGuard = endpoint === DYNAMODB_ENDPOINT ? 'it has no guard of ours' : undefined;
  it('reads and changes nothing: other names get 302, origins 403', unless(noGuard), async () => {
    const table = await createOwnTable(endpoint);
    const item = { pk: { S: 'a secret' }, sk: { S: '1' } };
    const call = (operation: string, headers: string[]) =>
      send(endpoint, {
        method: 'POST',
        headers: [
          'x-amz-target',
          `DynamoDB_20120810.${operation}`,
          'authorization',
          SIGNATURE,
          'x-amz-date',
          '20261122T000000Z',
          ...headers,
        ],
        body: JSON.stringify({ TableName: table.name, Item: item }),
      });
    expect((await call('PutItem', JSON_TYPE)).status).toBe(200);
    for (const headers of foreign) {
      const { status, text, headers: answered } = await call('DeleteTable', headers);
      expect(status).toBe(headers[0] === 'host' ? 302 : 403);
      expect(text).not.toContain(table.name);
      expect(answered['access-control-allow-origin']).toBeUndefined();

      const preflight = await send(endpoint, {
        method: 'OPTIONS',
        headers: [...headers, 'access-control-request-method', 'POST'],
      });
      expect(preflight.status).not.toBe(200);
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect((await call('Scan', JSON_TYPE)).json).toMatchObject({ Count: 1, Items: [item] });
  });
});

it('DynamoDB Local has committed what it acknowledges', unless(whyNoDynamoDbLocal), async () => {
  const folder = createFolder();
  const engine = await startEngine('dynamodb-local', folder);
  const table = await createOwnTable(engine.url);
  // Another connection sees what a new process would.
  using file = new DatabaseSync(join(folder, 'dynamodb-local/shared-local-instance.db'));
  onTestFinished(() => engine.close());
  const count = file.prepare(`SELECT count(*) AS count FROM "${table.name}"`);
  for (let written = 1; written <= (isHard ? 2_000 : 100); written++) {
    const Put = { TableName: table.name, Item: { pk: 'a', sk: String(written) } };
    await table.client.send(new TransactWriteCommand({ TransactItems: [{ Put }] }));
    expect(count.get()).toEqual({ count: written });
  }
});
