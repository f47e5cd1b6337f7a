import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { UUID } from 'uuidv7';
import { onTestFinished, vi } from 'vitest';
import { main } from '../../inbox/main.ts';
import { createInbox } from '../../inbox/store.ts';
import type { StoredInquiry } from '../../inbox/store.ts';
import { stateFileOf } from '../../lib/running-stack.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { INQUIRY } from './events.ts';
import { startFaultProxy } from './fault-proxy.ts';
import type { Plan } from './fault-proxy.ts';
import { run } from './io.ts';
import type { IoOptions } from './io.ts';
import { bestEngine, createOwnTable } from './own-table.ts';

/** Runs `npm run inbox -- ARGS` in this process. */
export const runInbox = (args: readonly string[], options?: IoOptions) => run(main, args, options);

/** Objects of JSON lines; other lines are left out. */
export const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** A new folder in the system's folder for temporary files, until the test ends. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Gives this process nothing of AWS but these variables, until the test ends. */
export function stubAws(variables: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  const none = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries({ ...none, ...variables })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** The environment of an operator of a stage, with a local engine in the place of DynamoDB. */
export const toStageEnvironment = (endpoint: string): Record<string, string> => ({
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
});

/** Writes the state file of a running stack, whose process is this one. */
export function writeState(folder: string, engine: string, table: string): void {
  const state = { pid: process.pid, issuer: '-', keysFile: '-', engine, table };
  writeFileSync(stateFileOf(folder), JSON.stringify(state));
}

let last = 0;

/** A table of the test's own, and the data folder of a stack that has it. */
export async function openInbox(engine = bestEngine()) {
  const own = await createOwnTable(engine);
  const folder = createFolder();
  writeState(folder, own.engine, own.name);
  onTestFinished(own.close);
  const entity = createInquiryEntity(own.name);
  const inbox = createInbox(own.client, own.name);
  return {
    ...own,
    folder,
    inbox,
    entity,
    /** Runs a verb on this table. */
    run: (args: readonly string[], options?: IoOptions) => runInbox(['--data', folder, ...args], options),
    /** Stores an inquiry that was created the given milliseconds ago. */
    async add(age: number, change: Partial<StoredInquiry> = {}): Promise<StoredInquiry> {
      const time = Date.now() - age;
      const row = {
        ...INQUIRY,
        id: UUID.fromFieldsV7(time, 1, 2, ++last).toString(),
        created_at: new Date(time).toISOString(),
        ...change,
      };
      await own.client.send(new PutCommand(entity.put(row).params()));
      return row;
    },
    /** Puts a proxy between the command and the engine. */
    async meet(plan: Plan) {
      const proxy = await startFaultProxy(own.engine);
      proxy.plan = plan;
      writeState(folder, proxy.url, own.name);
      onTestFinished(async () => proxy.close());
      return proxy;
    },
  };
}
