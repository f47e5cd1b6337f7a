import { PutCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Inquiry } from '../../src/contract.ts';
import { createIdempotencyKeyEntity } from '../../src/entities/idempotency-key.ts';
import { digest } from '../../src/entities/keys.ts';

/**
 * Writes an inquiry's idempotency key as the service does, also on an engine without transactions.
 *
 * @returns The row.
 */
export async function writeIdempotencyKey(
  { client, table }: { client: DynamoDBDocumentClient; table: string },
  { cognito_sub, email, id, subject, body, created_at }: Inquiry,
  { key = id } = {},
): Promise<Record<string, unknown>> {
  const row = {
    cognito_sub,
    email,
    key: digest(key),
    payload: digest(subject, body),
    inquiry: id,
    expires_at: Math.floor(Date.parse(created_at) / 1_000) + 86_400,
  };
  const input = createIdempotencyKeyEntity(table)
    .put(row)
    .params<{ TableName: string; Item: Record<string, unknown> }>();
  await client.send(new PutCommand(input));
  return input.Item;
}
