/** Replaces Lambda's event source mapping for DynamoDB Local. docs/adr/0080 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBBatchResponse } from 'aws-lambda';
import filters from '../../infra/terraform/stream-filters.json' with { type: 'json' };
import { LOCAL } from '../../lib/running-stack.ts';

export interface StreamOptions {
  endpoint: string;
  streamArn: string;
  invoke: (event: string) => Promise<string>;
  kind: keyof typeof filters;
  /** Gets a line of JSON when the stream cannot be read. */
  log: (line: string) => void;
}

const BATCH_SIZE = 100;
/** Milliseconds, doubled for each further retry. */
const POLL_INTERVAL = 500;
const RETRY_DELAY = 100;
const MAX_RETRY_DELAY = 2_000;

/**
 * Reads from the oldest record, so the next start reads the last 24 hours again. A batch is repeated from the first
 * record that the function reports (ReportBatchItemFailures). If the function fails, each record is tried alone, while
 * Lambda splits the batch in two.
 */
export function startEventSourceMapping({ endpoint, streamArn, invoke, kind, log }: StreamOptions) {
  const client = new DynamoDBStreamsClient({ endpoint, ...LOCAL });
  const stop = new AbortController();
  const options = { abortSignal: stop.signal };
  const positions = new Map<string, string>();

  async function readShards(): Promise<void> {
    // DynamoDB Local lists a shard for every 4 of 24 hours on one page, the oldest first, which keeps an item's changes
    // in order.
    const command = new DescribeStreamCommand({ StreamArn: streamArn });
    const { StreamDescription } = await client.send(command, options);
    for (const { ShardId = '' } of StreamDescription?.Shards ?? []) {
      await readShard(ShardId).catch((error: Error) => {
        // Records up to the position are older than 24 hours.
        if (error.name !== 'TrimmedDataAccessException') throw error;
        positions.delete(ShardId);
      });
    }
  }

  async function readShard(ShardId: string): Promise<void> {
    for (;;) {
      const last = positions.get(ShardId);
      // Iterators are not kept: they live for 15 minutes, and a laptop may sleep.
      const command = new GetShardIteratorCommand({
        StreamArn: streamArn,
        ShardId,
        ...(last === undefined
          ? { ShardIteratorType: 'TRIM_HORIZON' }
          : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last }),
      });
      const { ShardIterator } = await client.send(command, options);
      const { Records = [] } = await client.send(new GetRecordsCommand({ ShardIterator }), options);
      const matching = Records.filter((record) => isMatch(filters[kind], record));
      for (let start = 0; start < matching.length; start += BATCH_SIZE) {
        await handle(matching.slice(start, start + BATCH_SIZE));
      }
      const position = Records.at(-1)?.dynamodb?.SequenceNumber;
      if (position === undefined) return;
      positions.set(ShardId, position);
    }
  }

  async function handle(batch: readonly StreamRecord[], retries = 0): Promise<void> {
    stop.signal.throwIfAborted();
    const failures = await invokeOn(batch);
    if (failures === undefined && batch.length > 1) {
      for (const record of batch) await handle([record]);
      return;
    }
    const first = batch.findIndex(
      ({ dynamodb }) => failures?.includes(dynamodb?.SequenceNumber) ?? true,
    );
    if (first === -1) return;
    await sleep(Math.min(RETRY_DELAY * 2 ** retries, MAX_RETRY_DELAY), undefined, stop);
    await handle(batch.slice(first), retries + 1);
  }

  /** @returns Sequence numbers of failed records; undefined if the function failed. */
  async function invokeOn(batch: readonly StreamRecord[]) {
    const event = JSON.stringify({ Records: batch.map(toEventRecord) });
    const answer = await invoke(event).catch(() => undefined);
    if (answer === undefined) return undefined;
    const { batchItemFailures } = JSON.parse(answer) as DynamoDBBatchResponse;
    return batchItemFailures.map(({ itemIdentifier }): string | undefined => itemIdentifier);
  }

  async function run(): Promise<void> {
    let reported = '';
    while (!stop.signal.aborted) {
      try {
        await readShards();
        reported = '';
        await sleep(POLL_INTERVAL, undefined, stop);
      } catch (error) {
        if (stop.signal.aborted) return;
        const message = `The stream of the table cannot be read: ${(error as Error).name}`;
        const line = { timestamp: new Date().toISOString(), level: 'ERROR', message };
        if (message !== reported) log(JSON.stringify(line));
        reported = message;
        await sleep(POLL_INTERVAL);
      }
    }
  }
  const running = run();

  return {
    async close(): Promise<void> {
      stop.abort();
      client.destroy();
      await running;
    },
  };
}

const toEventRecord = ({ dynamodb, ...record }: StreamRecord) => ({
  ...record,
  dynamodb: {
    ...dynamodb,
    // Seconds since the epoch.
    ApproximateCreationDateTime: Number(dynamodb?.ApproximateCreationDateTime) / 1_000,
  },
});

type Pattern = { readonly [key: string]: Pattern } | readonly (string | { exists: boolean })[];

/** Implements as much of Lambda's filter syntax as the stages use: a list matches any of its elements. */
function isMatch(pattern: Pattern, value: unknown): boolean {
  if (Array.isArray(pattern)) {
    return pattern.some((item) =>
      typeof item === 'object' ? item.exists === (value !== undefined) : item === value,
    );
  }
  return Object.entries(pattern).every(([key, inner]) =>
    isMatch(inner, (value as Record<string, unknown> | undefined)?.[key]),
  );
}
