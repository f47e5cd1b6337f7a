/**
 * The runtime in a sandbox: runs the `handler` of the module in the first argument on events of Lambda's Runtime API.
 * Console calls become JSON lines, as with `log_format = "JSON"`. It is plain JavaScript: stripping types would slow
 * down cold starts.
 *
 * Requests for an event report the CPU time in microseconds, and end the process when the parent is gone.
 */

// Lambda's own client does the same (src/client/rapid-client.ts). An `import` would also load what `fetch` needs.
const { Agent, request } = process.getBuiltinModule('node:http');
const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let requestId;

for (const method of ['debug', 'info', 'log', 'warn', 'error']) {
  const level = method === 'log' ? 'INFO' : method.toUpperCase();
  console[method] = (value, ...more) => {
    const isPlain = value?.constructor === Object && more.length === 0;
    const { format } = process.getBuiltinModule('node:util');
    const message = isPlain ? value : format(value, ...more);
    const line = { timestamp: new Date().toISOString(), level, requestId, message };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  };
}

function call(method, path, body, headers) {
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

async function fetchNext() {
  const { user, system } = process.cpuUsage();
  return call('GET', 'invocation/next', undefined, { 'x-cpu': user + system });
}

async function invoke(handler, { headers, body }) {
  requestId = headers['lambda-runtime-aws-request-id'];
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
    await call('POST', `invocation/${requestId}/response`, JSON.stringify(result) ?? 'null');
  } catch (error) {
    await report(`invocation/${requestId}/error`, error);
  }
}

async function report(path, error) {
  const { name = typeof error, message: errorMessage = String(error) } =
    error instanceof Error ? error : {};
  await call('POST', path, JSON.stringify({ errorType: name, errorMessage }));
}

// A handler that waits for nothing must time out, as on Lambda.
setInterval(() => {}, 2 ** 31 - 1);
let handler;
try {
  ({ handler } = await import(process.argv[2]));
} catch (error) {
  await report('init/error', error);
  // Node prints it and exits with code 1.
  throw error;
}
for (;;) await invoke(handler, await fetchNext());
