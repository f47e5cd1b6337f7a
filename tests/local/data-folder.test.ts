import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { hasRows } from '../../local/data-folder.ts';
import {
  dynamoDbLocalUnavailableReason,
  engineNames,
  startEngine,
} from '../../local/database/engines.ts';
import { createOwnTable } from '../helpers/own-table.ts';

const isMissing = dynamoDbLocalUnavailableReason() !== undefined;

it.each(engineNames.filter((name) => name === 'dynalite' || !isMissing))(
  'a data folder has rows of %s when one is stored, also while that engine does not run',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'inquiries-data-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    expect(await hasRows(folder, name, 'missing')).toBe(false);
    const engine = await startEngine(name, folder);
    const { client, name: table, close } = await createOwnTable(engine.url);
    await client.send(new PutCommand({ TableName: table, Item: { pk: 'a', sk: 'b' } }));
    close();
    await engine.close();
    expect(await hasRows(folder, name, table)).toBe(true);
    expect(await hasRows(folder, name, 'missing')).toBe(false);
  },
);
