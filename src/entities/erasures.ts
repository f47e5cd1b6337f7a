/** This is no ElectroDB model: a record is only its key, so that operators cannot overwrite one. docs/adr/0084 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, paginateScan, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

export type ErasureRecords = ReturnType<typeof createErasureRecords>;

export function createErasureRecords({ client, name: TableName }: Table) {
  return {
    /** Creates the table of a local stack; on a stage, Terraform does. */
    async create(): Promise<void> {
      const command = new CreateTableCommand({
        TableName,
        KeySchema: [{ AttributeName: 'hash', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'hash', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      });
      await client.send(command).catch((error: Error) => {
        if (error.name !== 'ResourceInUseException') throw error;
      });
      await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.1 }, { TableName });
    },

    async add(hash: string): Promise<void> {
      await client.send(new PutCommand({ TableName, Item: { hash } }));
    },

    async remove(hash: string): Promise<void> {
      await client.send(new DeleteCommand({ TableName, Key: { hash } }));
    },

    /** Reads strongly consistently, in no order. */
    async read(): Promise<string[]> {
      const pages = await Array.fromAsync(
        paginateScan({ client }, { TableName, ConsistentRead: true }),
      );
      return pages.flatMap(({ Items = [] }) => Items.map(({ hash }) => String(hash)));
    },

    /** Reads a tag of this table, which a restore does not replace. */
    async readTag(name: string): Promise<string | undefined> {
      const { Table: table } = await client.send(new DescribeTableCommand({ TableName }));
      const { Tags = [] } = await client.send(
        new ListTagsOfResourceCommand({ ResourceArn: table?.TableArn }),
      );
      return Tags.find(({ Key }) => Key === name)?.Value;
    },
  };
}
