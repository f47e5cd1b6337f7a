import {
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { NETWORK } from '../lib/aws/aws.ts';
import type { Connection } from './connect.ts';

/** Header and beginning of a mail. */
const Range = 'bytes=0-65535';

/** Whether the address is in the mail, and not as a part of a longer one. */
const isNamed = (address: string, mail: string): boolean =>
  mail.split(address).some((before, at, pieces) => {
    const after = pieces[at + 1];
    return after !== undefined && !/[\w.+-]$/.test(before) && !/^(?:[\w-]|\.\w)/.test(after);
  });

/**
 * Deletes mails in which one of the addresses is, and which the receiver has not handled. docs/adr/0085
 *
 * @returns How many; undefined if the stage takes no answers by mail.
 */
export async function deleteReceivedMails(
  { stage, erasures }: Connection,
  addresses: string[],
): Promise<number | undefined> {
  const Bucket = stage === 'local' ? 'none' : await erasures.records.readTag('mail_bucket');
  if (Bucket === undefined || Bucket === 'none') return undefined;
  const client = new S3Client(NETWORK);
  let deleted = 0;
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    for (const { Key } of Contents) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
      const mail = (await Body?.transformToString('latin1'))?.toLowerCase() ?? '';
      if (!addresses.some((address) => isNamed(address.toLowerCase(), mail))) continue;
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
      deleted++;
    }
  }
  return deleted;
}
