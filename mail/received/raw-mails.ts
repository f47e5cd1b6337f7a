import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  S3Client,
} from '@aws-sdk/client-s3';
import type { RawMails } from './receiver.ts';

/** Milliseconds. */
const TIMEOUTS = { connectionTimeout: 1_000, requestTimeout: 8_000, throwOnRequestTimeout: true };

/** Of handled mails, which have a shorter life (receiver.tf). */
export const HANDLED = 'handled/';

/** The bucket that SES stores mails in, named by their ids, configured by the `AWS_*` environment. */
export function createRawMails(Bucket: string): RawMails {
  const client = new S3Client({ requestHandler: TIMEOUTS });
  return {
    async read(Key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        return await Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async archive(id) {
      const copy = { Bucket, CopySource: `${Bucket}/${id}`, Key: `${HANDLED}${id}` };
      try {
        await client.send(new CopyObjectCommand(copy));
      } catch (error) {
        // By an earlier invocation.
        if (error instanceof NoSuchKey) return;
        throw error;
      }
      await client.send(new DeleteObjectCommand({ Bucket, Key: id }));
    },
  };
}
