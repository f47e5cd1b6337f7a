import { text } from 'node:stream/consumers';
import {
  DynamoDBClient,
  type DynamoDBClientConfig,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';

type Deserialize = AwsJson1_0Protocol['deserializeResponse'];

/** The SDK's deserializer takes more CPU time than the rest of a long list. docs/adr/0060 */
class PlainJsonProtocol extends AwsJson1_0Protocol {
  override async deserializeResponse<Output extends Awaited<ReturnType<Deserialize>>>(
    ...[operation, context, response]: Parameters<Deserialize>
  ): Promise<Output> {
    if (response.statusCode !== 200) {
      return super.deserializeResponse<Output>(operation, context, response).catch(throwRetryable);
    }
    const output: object = JSON.parse(await text(response.body));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store checks what it reads
    return { ...output, $metadata: {} } as Output;
  }
}

const THROTTLED = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);

/** All cancellations have the same name, by which the SDK decides on retries. */
function throwRetryable(error: TransactionCanceledException): never {
  const { CancellationReasons: reasons = [] } = error;
  if (reasons.some(({ Code }) => THROTTLED.has(Code ?? ''))) {
    error.$retryable = { throttling: true };
  }
  throw error;
}

/** These take a tenth of a warm request's CPU time. */
const UNUSED = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'];

/** Milliseconds. */
const TIMEOUTS = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  throwOnRequestTimeout: true,
  socketTimeout: 3_000,
};

/**
 * The functions' DynamoDB client, configured by the `AWS_*` environment. docs/adr/0012
 *
 * @param requestHandler - Replaces the network (src/warm-up.ts).
 */
export function createDynamoDbClient(
  requestHandler: NonNullable<DynamoDBClientConfig['requestHandler']> = TIMEOUTS,
): DynamoDBClient {
  // oxlint-disable-next-line node/no-process-env -- the SDK would look for it in files, too
  const endpoint = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const client = new DynamoDBClient({
    protocol: PlainJsonProtocol,
    requestHandler,
    maxAttempts: 3,
    retryMode: 'standard',
    ...(endpoint && { endpoint }),
    // The SDK would look up its defaults in files.
    accountIdEndpointMode: 'disabled',
    authSchemePreference: [],
    defaultsMode: 'standard',
    disableClockSkewCorrection: false,
    endpointDiscoveryEnabled: false,
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
  });
  for (const name of UNUSED) client.middlewareStack.remove(name);
  client.middlewareStack.add(
    (next, context) => async (args) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK sets both before
      const { commandName, endpointV2 } = context as Required<typeof context>;
      const { protocol, hostname, port, pathname: path } = endpointV2.url;
      const target = `DynamoDB_20120810.${commandName.replace(/Command$/, '')}`;
      const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
      const body = JSON.stringify(args.input);
      return next({
        ...args,
        request: { method: 'POST', protocol, hostname, port, path, query: {}, headers, body },
      });
    },
    { name: 'serializerMiddleware', step: 'serialize', override: true },
  );
  return client;
}
