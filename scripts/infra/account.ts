/** The AWS account and region that a command works in. */
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { UsageError } from '../cli.ts';

const NO_CREDENTIALS = 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';

/** @throws UsageError when there is no region, or when the credentials are missing or refused. */
export async function readAccount(): Promise<{ accountId: string; region: string }> {
  const client = new STSClient({});
  const region = await client.config.region().catch(() => {
    throw new UsageError('There is no AWS region; set AWS_REGION or AWS_PROFILE.');
  });
  await client.config.credentials().catch(() => {
    throw new UsageError(NO_CREDENTIALS);
  });
  try {
    const { Account = '' } = await client.send(new GetCallerIdentityCommand());
    return { accountId: Account, region };
  } catch (error) {
    throw new UsageError(`${NO_CREDENTIALS} (${(error as Error).message})`, { cause: error });
  } finally {
    client.destroy();
  }
}
