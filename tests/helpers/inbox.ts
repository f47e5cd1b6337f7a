import { paginateScan, PutCommand } from '@aws-sdk/lib-dynamodb';
import { UUID } from 'uuidv7';
import { onTestFinished } from 'vitest';
import { connectLocally } from '../../inbox/connect.ts';
import { main } from '../../inbox/main.ts';
import { createInbox, type StoredInquiry } from '../../inbox/store.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { startAws, stubAws } from './aws.ts';
import { createFolder, writeState } from './data-folder.ts';
import { INQUIRY } from './events.ts';
import { delay, startFaultProxy, type Fault, type Plan } from './fault-proxy.ts';
import { run, toWords, type IoOptions } from './io.ts';
import { bestEngine, createOwnTable, removeRow, toEnvironment } from './own-table.ts';

/** Runs `npm run inbox -- ARGS` in this process. */
export const runInbox = (args: string[], options?: IoOptions) => run(main, args, options);

/** Objects of JSON lines; other lines are left out. */
export const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Imitates AWS until the test ends, with a local engine in place of DynamoDB. @returns State with its answers. */
export async function startStage(engine: string) {
  const { state, env, close } = await startAws();
  onTestFinished(close);
  stubAws({ ...toEnvironment(engine), AWS_ENDPOINT_URL: env.AWS_ENDPOINT_URL });
  return state;
}

let last = 0;

/**
 * A table of the test's own, the data folder of a stack that has it, and the inbox on it, both behind a fault proxy.
 *
 * @param options - `pageSize` limits the pages of queries.
 */
export async function openInbox({
  engine = bestEngine(),
  pageSize,
  now = Date.now,
}: { engine?: string; pageSize?: number; now?: () => number } = {}) {
  const own = await createOwnTable(engine);
  const proxy = await startFaultProxy(own.engine, pageSize);
  const folder = createFolder();
  writeState(folder, { engine: proxy.url, table: own.name });
  const { client } = connectLocally(folder);
  onTestFinished(async () => {
    client.destroy();
    own.close();
    await proxy.close();
  });
  const entity = createInquiryEntity(own.name);
  return {
    ...own,
    folder,
    /** The address of the fault proxy. */
    url: proxy.url,
    inbox: createInbox(client, own.name, now),
    deliveries: createDeliveryEntity(own.name, own.client),
    /** Runs a line on this table, unless the line names another place. */
    run(line: string | string[], options?: IoOptions) {
      const args = toWords(line);
      const isPlaced = args.some((word) => word === '--stage' || word === '--data');
      return runInbox(isPlaced ? args : [...args, '--data', folder], options);
    },
    /** Stores an inquiry that was created the given milliseconds ago. */
    async add(age: number, change: Partial<StoredInquiry> = {}): Promise<StoredInquiry> {
      const time = now() - age;
      const id = UUID.fromFieldsV7(time, 1, 2, ++last).toString();
      const row = { ...INQUIRY, id, created_at: new Date(time).toISOString(), ...change };
      await own.client.send(new PutCommand(entity.put(row).params()));
      return row;
    },
    /** Everything in the table, or in another one. */
    async scan(TableName = own.name): Promise<Record<string, unknown>[]> {
      const pages = await Array.fromAsync(paginateScan({ client: own.client }, { TableName }));
      return pages.flatMap(({ Items = [] }) => Items);
    },
    remove: (row: StoredInquiry) => removeRow(own.client, own.name, row),
    /** What happens to the requests of the inbox and of verbs from now on. */
    meet: (plan: Plan) => void (proxy.plan = plan),
  };
}

/** Does something before the engine gets a request. */
export const beforehand =
  (act: () => Promise<unknown>): Fault =>
  async (exchange) => {
    await act();
    await delay(0)(exchange);
  };

/** Meets the n-th request of some operations, counted from 0 since the plan was made. */
export function onRequest(
  operations: string | string[],
  meet: (request: number) => Fault | undefined,
): Plan {
  let requests = 0;
  const wanted = new Set([operations].flat());
  return (_, operation) => (wanted.has(operation) ? meet(requests++) : undefined);
}
