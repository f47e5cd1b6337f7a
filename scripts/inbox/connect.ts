/** Connects the operators' command to a table: that of the running local stack, or that of a stage. */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NETWORK } from '../aws.ts';
import { UsageError } from '../cli.ts';
import { readRunningStack } from '../local/state.ts';
import { createInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';
import { toVisible } from './output.ts';

export interface Connection {
  /** `local`, or the stage's name: what is typed to confirm an erasure. */
  readonly stage: string;
  readonly table: string;
  /** The table of erasures and the key of its hashes (docs/adr/0085). Another `table` does not change them. */
  readonly erasures: {
    readonly table: string;
    readonly key: { readonly file: string } | { readonly parameter: string };
  };
  readonly client: DynamoDBDocumentClient;
  readonly inbox: Inbox;
  /** Who answers: the name in the AWS credentials; locally the user of the operating system. */
  readonly respondent: () => Promise<string>;
}

/** Connects when it is called: a verb reads its arguments first. */
export type Connect = () => Connection;

/**
 * Connects to the running local stack.
 *
 * @param folder - Its data folder.
 * @param options - Another table, and who answers.
 * @throws UsageError when none is running, or when `respondent` is blank.
 */
export function connectLocally(
  folder: string,
  options: { readonly table?: string | undefined; readonly respondent?: string | undefined } = {},
): Connection {
  const { engine: endpoint, ...state } = readRunningStack(folder);
  const { table = state.table, respondent } = options;
  if (respondent?.trim() === '') throw new UsageError('--as is empty; pass the name of who answers.');
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...NETWORK, endpoint, region: 'local', credentials }),
  );
  return {
    stage: 'local',
    table,
    erasures: { table: `${state.table}-erasures`, key: { file: join(folder, 'erasure-key') } },
    client,
    inbox: createInbox(client, table),
    respondent: async () => respondent ?? readUserName(),
  };
}

/** A container may run under a user id that has no name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new UsageError('The user of the operating system has no name; pass --as NAME.', { cause: error });
  }
}

/** The default of Terraform's variable `name`, and the stage. */
const tableOf = (stage: string): string => `inquiries-${stage}`;

/** Connects to the table of a stage with the caller's AWS credentials and region. */
export function connectToStage(stage: string, table = tableOf(stage)): Connection {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(NETWORK));
  return {
    stage,
    table,
    erasures: {
      table: `${tableOf(stage)}-erasures`,
      key: { parameter: `/${tableOf(stage)}/erasure-key` },
    },
    client,
    inbox: createInbox(client, table),
    respondent: async () => {
      // Only needed for an answer.
      const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
      const { Arn = '' } = await new STSClient(NETWORK).send(new GetCallerIdentityCommand());
      // arn:aws:iam::111122223333:user/ana, arn:aws:sts::111122223333:assumed-role/support/ana@example.com,
      // arn:aws:iam::111122223333:root
      const name = Arn.slice(Math.max(Arn.lastIndexOf('/'), Arn.lastIndexOf(':')) + 1);
      if (name === '') throw new Error('AWS did not say who the credentials belong to.');
      return name;
    },
  };
}

const NO_CREDENTIALS = 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';
const THROTTLED = 'DynamoDB limits the requests at the moment; try again.';

/** Errors of the AWS SDK that mean the same for every table. */
const FAILURES: Readonly<Record<string, string>> = {
  CredentialsProviderError: NO_CREDENTIALS,
  TokenProviderError: NO_CREDENTIALS,
  ExpiredToken: NO_CREDENTIALS,
  ExpiredTokenException: NO_CREDENTIALS,
  UnrecognizedClientException: NO_CREDENTIALS,
  InvalidClientTokenId: NO_CREDENTIALS,
  InvalidSignatureException: NO_CREDENTIALS,
  SignatureDoesNotMatch: NO_CREDENTIALS,
  ThrottlingException: THROTTLED,
  ProvisionedThroughputExceededException: THROTTLED,
};

/**
 * Says in one line what an operator can do about an error of AWS or of the network.
 *
 * @returns An error for the terminal; the error itself when it comes from elsewhere.
 */
export function describeFailure(
  error: unknown,
  { stage, table }: { readonly stage?: string | undefined; readonly table?: string | undefined },
): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, code } = error as NodeJS.ErrnoException;
  const place = stage === undefined ? 'the local stack' : `the stage ${stage}`;
  const named =
    stage === undefined && table === undefined
      ? 'The table of the local stack'
      : `The table ${toVisible(table ?? tableOf(stage ?? ''))}`;
  const remedy =
    stage === undefined ? 'restart the stack with npm start' : `deploy the stage: npm run deploy -- ${stage}`;

  const describe = (): string | undefined => {
    if (message === 'Region is missing') return 'There is no AWS region; set AWS_REGION or AWS_PROFILE.';
    // The SDK adds it to what it receives, and to errors of the network.
    if (!('$metadata' in error)) return undefined;
    if (name === 'TimeoutError' || code !== undefined) {
      return `${stage === undefined ? 'The engine of the local stack' : 'AWS'} cannot be reached (${code ?? name}).`;
    }
    if (/specified index/.test(message)) return `${named} has no index by-time; ${remedy}.`;
    if (name === 'ResourceNotFoundException') {
      const where = stage === undefined ? '' : ' in this account and region';
      return `${named} does not exist${where}${table === undefined ? `; ${remedy}` : ''}.`;
    }
    if (name.startsWith('AccessDenied')) {
      const [, action = 'this'] = /to perform: (\S+)/.exec(message) ?? [];
      return `The AWS credentials do not allow ${action}; they need the operators' policy of ${place}.`;
    }
    const [line = ''] = message.split('\n');
    return `${name}: ${line}`;
  };
  const line = FAILURES[name] ?? describe();
  return line === undefined ? error : new Error(line, { cause: error });
}
