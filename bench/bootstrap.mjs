/**
 * The runtime of every contender: what Lambda's own does around a handler, and no more. It imports the module
 * named by the first argument, says with its first `next` that initialisation is over, and answers events one by
 * one. With each `next` it reports the CPU time used so far, in microseconds.
 */
import { Agent, request } from 'node:http';

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function call(method, path, { headers, body } = {}) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const outgoing = request(
    { hostname, port, method, agent, headers, path: `/2018-06-01/runtime/${path}` },
    (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

async function next() {
  const { user, system } = process.cpuUsage();
  return call('GET', 'invocation/next', { headers: { 'x-cpu': user + system } });
}

async function answer(handler, { headers, body }) {
  const requestId = headers['lambda-runtime-aws-request-id'];
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  const context = {
    awsRequestId: requestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: '$LATEST',
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  try {
    const result = await handler(JSON.parse(body), context);
    await call('POST', `invocation/${requestId}/response`, { body: JSON.stringify(result) });
  } catch (error) {
    await call('POST', `invocation/${requestId}/error`, { body: String(error?.stack) });
  }
}

let handler;
try {
  ({ handler } = await import(process.argv[2]));
} catch (error) {
  await call('POST', 'init/error', { body: String(error?.stack) });
  process.exit(1);
}
for (;;) await answer(handler, await next());
