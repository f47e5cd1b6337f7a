/** The bucket of Terraform's state, which has to exist before Terraform can run. */
import { S3, S3ServiceException, type BucketLocationConstraint } from '@aws-sdk/client-s3';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';

/** Where the state of all stages is. */
export interface Place {
  readonly accountId: string;
  readonly region: string;
  readonly bucket: string;
}

/**
 * @returns Whether the bucket exists, and whether bootstrap was applied here before.
 * @throws UsageError if the bucket is another account's, or these credentials may not read it.
 */
export async function inspectStateBucket({ accountId, region, bucket }: Place) {
  const s3 = new S3({ ...NETWORK, region });
  try {
    const { Contents = [] } = await s3.listObjectsV2({
      Bucket: bucket,
      ExpectedBucketOwner: accountId,
      Prefix: 'inquiries/bootstrap.tfstate',
      MaxKeys: 1,
    });
    return { exists: true, isBootstrapped: Contents.length > 0 };
  } catch (error) {
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (status === 404) return { exists: false, isBootstrapped: false };
    if (status !== 403) throw error;
    throw new UsageError(
      `The bucket ${bucket} exists, but account ${accountId} may not read it: it is another account's, or these credentials lack the permission. Nothing was changed.`,
      { cause: error },
    );
  }
}

/**
 * Creates the bucket. S3 encrypts it and blocks public access by default; versions have to be on before the first state is
 * written. infra/terraform/bootstrap then imports it and sets everything, versions included.
 */
export async function createStateBucket({ region, bucket: Bucket }: Place): Promise<void> {
  const s3 = new S3({ ...NETWORK, region });
  // S3 refuses the name of the region that is its default.
  const location = region === 'us-east-1' ? undefined : (region as BucketLocationConstraint);
  const CreateBucketConfiguration = location && { LocationConstraint: location };
  await s3.createBucket({ Bucket, CreateBucketConfiguration });
  await s3.putBucketVersioning({ Bucket, VersioningConfiguration: { Status: 'Enabled' } });
}
