/** The accounts of a stage's users in its own user pool, if it has one (infra/terraform/identity). */
import {
  AdminDeleteUserCommand,
  CognitoIdentityProviderClient,
  ListUsersCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { DescribeTableCommand, ListTagsOfResourceCommand } from '@aws-sdk/client-dynamodb';
import { NETWORK } from '../lib/aws.ts';
import type { Connection } from './connect.ts';
import { nameMissingTable } from './erasures.ts';

export type Account =
  /** `elsewhere`: this is the local stack, or a stage whose issuer is not its own pool. */
  | { readonly status: 'none' | 'elsewhere' }
  | {
      readonly status: 'found';
      /** The id of the user pool. */
      readonly pool: string;
      /** Deletes the account, and with it its refresh tokens. */
      readonly remove: () => Promise<void>;
    };

/** Finds the account of a user. @throws Error when the stage does not say whether it has a pool. */
export async function findAccount(connection: Connection, sub: string): Promise<Account> {
  if (connection.stage === 'local') return { status: 'elsewhere' };
  const pool = await readUserPool(connection);
  if (pool === 'none') return { status: 'elsewhere' };
  const client = new CognitoIdentityProviderClient(NETWORK);
  const { Users: [user] = [] } = await client.send(
    new ListUsersCommand({
      UserPoolId: pool,
      Filter: `sub = ${JSON.stringify(sub)}`,
      AttributesToGet: ['sub'],
    }),
  );
  if (user === undefined) return { status: 'none' };
  return {
    status: 'found',
    pool,
    async remove() {
      const command = new AdminDeleteUserCommand({ UserPoolId: pool, Username: user.Username });
      await client.send(command).catch((error: Error) => {
        // The user has deleted it since it was found.
        if (error.name !== 'UserNotFoundException') throw error;
      });
    },
  };
}

/** Reads the id of the stage's pool, or `none`, from a tag of the table of erasures, which no restore replaces. */
async function readUserPool(connection: Connection): Promise<string> {
  const { stage, client, erasures } = connection;
  const described = client.send(new DescribeTableCommand({ TableName: erasures.table }));
  const { Table } = await nameMissingTable(connection, described);
  const { Tags = [] } = await client.send(
    new ListTagsOfResourceCommand({ ResourceArn: Table?.TableArn }),
  );
  const pool = Tags.find(({ Key }) => Key === 'user_pool')?.Value;
  if (pool !== undefined) return pool;
  throw new Error(
    `The table ${erasures.table} has no tag user_pool, so the user's account cannot be found; deploy it with npm run deploy -- ${stage}, or pass --keep-account.`,
  );
}
