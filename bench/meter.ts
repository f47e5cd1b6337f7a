/** Stands between a contender and the engine, and adds up what its requests to DynamoDB consume. */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { close, listen } from '../lib/loopback-server.ts';

export interface Consumption {
  /** Requests, one after the other: round trips. */
  readonly requests: number;
  /** Units of 1 KB, those of the index included; twice as many in a transaction. */
  readonly writeUnits: number;
  /** Units of 4 KB, strongly consistent. */
  readonly readUnits: number;
}

interface Input {
  readonly TransactItems?: readonly unknown[];
}
type Capacity = { readonly CapacityUnits: number };
type Output = { readonly ConsumedCapacity?: Capacity | readonly Capacity[] };

const READS = new Set(['GetItem', 'Query']);

export async function startMeter(engine: string) {
  let requests = 0;
  let writeUnits = 0;
  let readUnits = 0;
  const forward = async (incoming: IncomingMessage): Promise<Response> => {
    const input = (await json(incoming)) as Input;
    const passed = Object.entries(incoming.headers).filter(([name]) =>
      /^(x-amz-|content-type|authorization)/.test(name),
    );
    const response = await fetch(engine, {
      method: 'POST',
      headers: Object.fromEntries(passed) as Record<string, string>,
      body: JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' }),
    });
    const target = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const units = unitsOf(input, (await response.clone().json()) as Output);
    requests++;
    if (READS.has(target)) readUnits += units;
    else writeUnits += units;
    return response;
  };
  const server = createServer((incoming, outgoing) => {
    forward(incoming).then(
      async (response) =>
        outgoing
          .writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' })
          .end(await response.text()),
      (error: Error) => outgoing.destroy(error),
    );
  });
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  return {
    url,
    /** What was consumed since the last call. */
    take(): Consumption {
      const consumption = { requests, writeUnits, readUnits };
      requests = writeUnits = readUnits = 0;
      return consumption;
    },
    close: () => close(server),
  };
}

/**
 * DynamoDB reports the units of a success only. A write whose condition is false consumes those of the row that exists,
 * and AWS does not document what a canceled transaction consumes: here those of its writes, which is the most. All rows
 * of the benchmark are smaller than 1 KB.
 */
function unitsOf({ TransactItems }: Input, { ConsumedCapacity }: Output): number {
  if (ConsumedCapacity === undefined) return TransactItems === undefined ? 1 : 2 * TransactItems.length;
  return [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
}
