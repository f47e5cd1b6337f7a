import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, PutItemCommand, QueryCommand as WireQueryCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { QueryCommand } from '@aws-sdk/lib-dynamodb';

/** What ElectroDB asks of a document client, for the two commands that this service sends. */
export interface DocumentClient {
  send(command: PutCommand | QueryCommand, options?: { abortSignal?: AbortSignal }): Promise<object>;
}

/** Milliseconds. */
const TIME_LIMITS = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  throwOnRequestTimeout: true,
  socketTimeout: 3_000,
};

const answerAlways = (json: string) => ({
  handle: async () => ({
    response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(json)]) },
  }),
});

/**
 * Creates the DynamoDB client: the only place that constructs an AWS client. Region, credentials and endpoint
 * come from the `AWS_*` environment.
 *
 * The SDK's defaults wait for ever. Here an attempt ends after 1 s without a connection, or after 3 s without a
 * response or without a byte; three attempts at most. The caller's signal bounds the whole. docs/adr/0012
 *
 * It stands in for lib-dynamodb's DynamoDBDocumentClient, whose conversion knows every type: all that this service
 * writes and reads are strings. docs/adr/0060
 *
 * @param answer - JSON that answers every request in the place of a network (src/rehearsal.ts).
 */
export function createDynamoDbClient(answer?: string): DocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    retryMode: 'standard',
    requestHandler: answer === undefined ? TIME_LIMITS : answerAlways(answer),
    // The SDK's defaults, given here so that it does not look for them in files that Lambda does not have.
    accountIdEndpointMode: 'disabled',
    authSchemePreference: [],
    defaultsMode: 'standard',
    endpointDiscoveryEnabled: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: '',
  });
  // It copies every result, for a logger that drops it.
  client.middlewareStack.remove('loggerMiddleware');
  readPlainJson(client);

  return {
    async send(command, options) {
      if (command instanceof PutCommand) {
        const { Item, ...input } = command.input;
        return client.send(new PutItemCommand({ ...input, Item: toWire(Item) }), options);
      }
      const { ExclusiveStartKey, ExpressionAttributeValues, ...input } = command.input;
      const { Items, LastEvaluatedKey, ...output } = await client.send(
        new WireQueryCommand({
          ...input,
          ExclusiveStartKey: toWire(ExclusiveStartKey),
          ExpressionAttributeValues: toWire(ExpressionAttributeValues),
        }),
        options,
      );
      return { ...output, Items: Items?.map(fromWire), LastEvaluatedKey: fromWire(LastEvaluatedKey) };
    },
  };
}

/** The part of the SDK's protocol that reads answers. */
interface AnswerReader {
  deserializeResponse(
    operation: unknown,
    context: unknown,
    answer: { statusCode: number; body: Readable },
  ): Promise<object>;
}

/** Reads a success as the JSON that it is; the SDK would walk each value of each item through a schema. */
function readPlainJson(client: DynamoDBClient): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's own type is a union that cannot be called
  const protocol = client.config.protocol as AnswerReader;
  const deserialize = protocol.deserializeResponse.bind(protocol);
  protocol.deserializeResponse = async (operation, context, answer) => {
    if (answer.statusCode !== 200) return deserialize(operation, context, answer);
    const output: object = JSON.parse(await text(answer.body));
    return { ...output, $metadata: {} };
  };
}

type Wire = Record<string, AttributeValue>;

/** `{ a: 'x' }` → `{ a: { S: 'x' } }` */
function toWire(values: Record<string, string> | undefined): Wire | undefined {
  return values && Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { S: value }]));
}

/** `{ a: { S: 'x' } }` → `{ a: 'x' }`; what is no string is undefined. */
function fromWire(values: Wire | undefined): Record<string, string | undefined> | undefined {
  if (values === undefined) return undefined;
  const strings: Record<string, string | undefined> = {};
  for (const name in values) strings[name] = values[name]?.S;
  return strings;
}
