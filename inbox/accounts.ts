import {
  AdminDeleteUserCommand,
  CognitoIdentityProviderClient,
  ListUsersCommand,
} from '@aws-sdk/client-cognito-identity-provider';
import { NETWORK } from '../lib/aws/aws.ts';
import type { Connection } from './connect.ts';
import { ignore, nameMissingTable } from './erasures.ts';

export interface Account {
  /** `elsewhere`: the stage has no pool of its own. */
  status: 'found' | 'none' | 'elsewhere' | 'kept';
  description: string;
  /** With its refresh tokens. */
  remove?: () => Promise<unknown>;
}

/** @throws Error if the stage does not say whether it has a pool. */
export async function findAccount(connection: Connection, sub: string): Promise<Account> {
  const { stage } = connection;
  const pool = stage === 'local' ? 'none' : await readUserPool(connection);
  const place = stage === 'local' ? 'The local stack' : `The stage ${stage}`;
  if (pool === 'none') {
    const description = `${place} has no user pool of its own: the account of the user has to be deleted at its issuer.`;
    return { status: 'elsewhere', description };
  }
  const client = new CognitoIdentityProviderClient(NETWORK);
  const Filter = `sub = ${JSON.stringify(sub)}`;
  const { Users: [user] = [] } = await client.send(
    new ListUsersCommand({ UserPoolId: pool, Filter, AttributesToGet: ['sub'] }),
  );
  if (user === undefined) {
    return { status: 'none', description: `${place} has no account of ${sub} in its user pool.` };
  }
  const command = new AdminDeleteUserCommand({ UserPoolId: pool, Username: user.Username });
  return {
    status: 'found',
    description: `${place} has an account of ${sub} in its user pool ${pool}.`,
    // It may have been deleted meanwhile.
    remove: async () => client.send(command).catch(ignore('UserNotFoundException')),
  };
}

/** An id or `none`, from a tag of the table of erasures. */
async function readUserPool(connection: Connection): Promise<string> {
  const { stage, erasures } = connection;
  const pool = await nameMissingTable(connection, erasures.records.readTag('user_pool'));
  if (pool !== undefined) return pool;
  throw new Error(
    `The table ${erasures.table} has no tag user_pool, so the user's account cannot be found; deploy it with npm run deploy -- ${stage}, or pass --keep-account.`,
  );
}
