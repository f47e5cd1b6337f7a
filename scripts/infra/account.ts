/** Which AWS account and region the commands work in. */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { UsageError } from '../cli.ts';

/**
 * Asks AWS whose credentials the environment has.
 *
 * @throws UsageError without a region, without credentials, or if AWS does not accept them.
 */
export async function readAccount(): Promise<{ accountId: string; region: string }> {
  const client = new STSClient({});
  try {
    const region = await client.config.region().catch(() => {
      throw new UsageError('There is no AWS region; set AWS_REGION or AWS_PROFILE.');
    });
    await client.config.credentials().catch(() => {
      throw new UsageError('There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).');
    });
    const { Account: accountId } = await client.send(new GetCallerIdentityCommand()).catch((error: Error) => {
      throw new UsageError(`AWS does not say which account the credentials are of: ${error.message}`);
    });
    if (accountId === undefined)
      throw new UsageError('AWS does not say which account the credentials are of.');
    return { accountId, region };
  } finally {
    client.destroy();
  }
}
