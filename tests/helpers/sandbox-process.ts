/** A Lambda sandbox in a process of its own, so that it can be frozen; its parent is sandbox.ts. */
import { replaceConsole } from '../../scripts/local/lambda-console.ts';
import type { SandboxReply, SandboxRequest } from './sandbox.ts';

type Handler = (event: unknown, context: object) => Promise<unknown>;

replaceConsole((level, message) => ({ level, message }));

const { handler } = (await import(process.argv[2] ?? '')) as { handler: Handler };
const send = (answer: SandboxReply): void => void process.send?.(answer);

async function reply({ id, event, remaining }: SandboxRequest): Promise<void> {
  if (event === undefined) {
    globalThis.gc?.();
    send({ id, result: String(process.memoryUsage().heapUsed), milliseconds: 0 });
    return;
  }
  const started = performance.now();
  // Lambda's clock for this is the one of the wall, in whole milliseconds.
  const deadline = Date.now() + remaining;
  const context = {
    awsRequestId: `request-${id}`,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  try {
    const result = JSON.stringify(await handler(JSON.parse(event), context));
    send({ id, result, milliseconds: performance.now() - started });
  } catch (error) {
    send({ id, thrown: String(error), milliseconds: performance.now() - started });
  }
}
process.on('message', (request: SandboxRequest) => void reply(request));
process.on('disconnect', () => process.exit(0));
send({ id: 0, result: 'ready', milliseconds: 0 });
