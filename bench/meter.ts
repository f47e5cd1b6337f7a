/** Stands between a contender and the engine, and adds up what its requests to DynamoDB consume. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { close, listen } from '../lib/loopback-server.ts';

export interface Consumption {
  /** Requests, one after the other: round trips. */
  requests: number;
  /** Units of 1 KB, those of the index included; twice as many in a transaction. */
  writeUnits: number;
  /** Units of 4 KB, strongly consistent. */
  readUnits: number;
}

interface Input {
  readonly TransactItems?: readonly unknown[];
}
type Capacity = { readonly CapacityUnits: number };
type Output = { readonly ConsumedCapacity?: Capacity | readonly Capacity[] };

const none = (): Consumption => ({ requests: 0, writeUnits: 0, readUnits: 0 });

export async function startMeter(engine: string) {
  let consumed = none();
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const input = (await json(incoming)) as Input;
    const target = String(incoming.headers['x-amz-target']);
    const response = await fetch(engine, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': target,
        authorization: String(incoming.headers.authorization),
      },
      body: JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' }),
    });
    const text = await response.text();
    consumed.requests++;
    const kind = /\.(GetItem|Query)$/.test(target) ? 'readUnits' : 'writeUnits';
    consumed[kind] += unitsOf(input, JSON.parse(text) as Output);
    outgoing.writeHead(response.status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  };
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch((error: Error) => outgoing.destroy(error));
  });
  return {
    url: `http://127.0.0.1:${await listen(server, 0)}`,
    /** What was consumed since the last call. */
    take(): Consumption {
      const taken = consumed;
      consumed = none();
      return taken;
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
