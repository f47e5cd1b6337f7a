import { Readable } from 'node:stream';
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

const HANDLED = 'handled/';

/** Bytes of the largest mail that SES takes (docs/aws-evidence.md). */
const LARGEST = 40 * 1024 * 1024;

const space = Buffer.allocUnsafeSlow(LARGEST);

const keep = (chunk: Uint8Array, at: number): number => {
  space.set(chunk, at);
  return chunk.length;
};

/** The bucket that SES stores mails in, named by their ids, configured by the `AWS_*` environment. */
export function createRawMails(Bucket: string): RawMails {
  const client = new S3Client({ requestHandler: TIMEOUTS });
  return {
    async read(Key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        let length = 0;
        if (Body instanceof Readable) for await (const chunk of Body) length += keep(chunk, length);
        return space.subarray(0, length);
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
