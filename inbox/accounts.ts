import {
  AdminDeleteUserCommand,
  CognitoIdentityProviderClient,
  paginateListUsers,
  type UserType,
} from '@aws-sdk/client-cognito-identity-provider';
import { NETWORK } from '../lib/aws/aws.ts';
import type { Connection } from './connect.ts';
import { ignore, nameMissingTable } from './erasures.ts';
import { isNear } from './spelling.ts';

export interface Account {
  sub: string;
  email: string;
  name: string;
  created_at: string;
}

const toAccount = ({ Username: name = '', Attributes = [], UserCreateDate }: UserType): Account => {
  const read = (attribute: string): string =>
    Attributes.find(({ Name }) => Name === attribute)?.Value ?? '';
  const created_at = UserCreateDate?.toISOString() ?? '';
  return { sub: read('sub'), email: read('email'), name, created_at };
};

export type Pool = NonNullable<Awaited<ReturnType<typeof openPool>>>;

/** @returns undefined if the stage has no pool of its own. @throws Error if it does not say whether it has one. */
export async function openPool(connection: Connection) {
  const id = connection.stage === 'local' ? 'none' : await readUserPool(connection);
  if (id === 'none') return undefined;
  const client = new CognitoIdentityProviderClient(NETWORK);

  async function* list(Filter?: string): AsyncGenerator<Account[]> {
    const input = { UserPoolId: id, AttributesToGet: ['sub', 'email'], ...(Filter && { Filter }) };
    for await (const { Users = [] } of paginateListUsers({ client }, input)) {
      yield Users.map(toAccount);
    }
  }
  const find = async (attribute: 'sub' | 'email', operator: '=' | '^=', value: string) =>
    (await Array.fromAsync(list(`${attribute} ${operator} ${JSON.stringify(value)}`))).flat();

  return {
    id,
    list,
    async findBySub(sub: string): Promise<Account | undefined> {
      return (await find('sub', '=', sub))[0];
    },
    /** Finds near spellings, too. Cognito compares prefixes with their case. */
    async findByEmail(email: string): Promise<Account[]> {
      const [beginning = ''] = email.split(/[+.@]/, 1);
      const accounts = new Map<string, Account>();
      for (const prefix of new Set([beginning, beginning.toLowerCase()])) {
        for (const account of await find('email', '^=', prefix)) {
          if (isNear(account.email, email)) accounts.set(account.sub, account);
        }
      }
      return [...accounts.values()];
    },
    /** Also ends its refresh tokens. It may have been deleted meanwhile. */
    async remove({ name: Username }: Account): Promise<void> {
      const command = new AdminDeleteUserCommand({ UserPoolId: id, Username });
      await client.send(command).catch(ignore('UserNotFoundException'));
    },
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
