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

/** Reads the bucket in which SES stores mails by their ids. The `AWS_*` environment configures it. */
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
        // An earlier invocation has archived it.
        if (error instanceof NoSuchKey) return;
        throw error;
      }
      await client.send(new DeleteObjectCommand({ Bucket, Key: id }));
    },
  };
}
