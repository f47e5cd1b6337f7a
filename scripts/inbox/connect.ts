/** Connects the operators' command to a table: that of the running local stack, or that of a stage. */
import { userInfo } from 'node:os';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readRunningStack } from '../local/state.ts';
import { createInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

export interface Connection {
  /** `local`, or the stage's name: what is typed to confirm an erasure. */
  readonly stage: string;
  readonly table: string;
  readonly client: DynamoDBDocumentClient;
  readonly inbox: Inbox;
  /** Who answers: the name in the AWS credentials; locally the user of the operating system. */
  readonly respondent: () => Promise<string>;
}

/**
 * Connects to the running local stack.
 *
 * @param folder - Its data folder.
 * @throws UsageError when none is running.
 */
export function connectLocally(folder: string): Connection {
  const { engine: endpoint, table } = readRunningStack(folder);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }));
  return {
    stage: 'local',
    table,
    client,
    inbox: createInbox(client, table),
    respondent: async () => userInfo().username,
  };
}

/** Connects to the table of a stage with the caller's AWS credentials and region. */
export function connectToStage(stage: string, table = `inquiries-${stage}`): Connection {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient());
  return {
    stage,
    table,
    client,
    inbox: createInbox(client, table),
    respondent: async () => {
      const { Arn = '' } = await new STSClient().send(new GetCallerIdentityCommand());
      // arn:aws:iam::111122223333:user/ana, arn:aws:sts::111122223333:assumed-role/support/ana@example.com
      return Arn.slice(Arn.lastIndexOf('/') + 1);
    },
  };
}
