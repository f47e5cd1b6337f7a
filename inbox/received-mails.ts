import {
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import PostalMime, { type Email } from 'postal-mime';
import { NETWORK } from '../lib/aws/aws.ts';
import { LOCAL } from '../lib/running-stack.ts';
import type { Connection } from './connect.ts';
import { ignore } from './erasures.ts';

/** What names a person in a mail. */
export interface Names {
  addresses: string[];
  /** Of inquiries. */
  ids: string[];
}

export interface ReceivedMails {
  count: number;
  /** Those that the person has written. */
  written: Pick<Email, 'date' | 'subject' | 'text'>[];
  remove: () => Promise<void>;
}

/** Whether the text has the address, and not only a longer one that contains it. */
const hasAddress = (text: string, address: string): boolean =>
  text.split(address).some((before, at, pieces) => {
    const after = pieces[at + 1];
    return after !== undefined && !/[\w.+-]$/.test(before) && !/^(?:[\w-]|\.\w)/.test(after);
  });

const stringsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(stringsIn);

const parse = async (raw: string | Uint8Array): Promise<Email> =>
  PostalMime.parse(raw, { attachmentEncoding: 'utf8' });

/** @returns Decoded texts, also of attached mails. */
async function readTexts(mail: Email): Promise<string[]> {
  const texts = stringsIn(mail);
  for (const { mimeType, content } of mail.attachments) {
    if (mimeType !== 'message/rfc822' || typeof content !== 'string') continue;
    texts.push(...(await parse(content).then(readTexts, () => [])));
  }
  return texts;
}

async function openBucket({ stage, erasures, mailStore }: Connection) {
  if (stage === 'local') {
    if (mailStore === undefined) return undefined;
    const client = new S3Client({ ...LOCAL, endpoint: mailStore, forcePathStyle: true });
    return { Bucket: 'mails', client };
  }
  const Bucket = await erasures.records.readTag('mail_bucket');
  const isNone = Bucket === undefined || Bucket === 'none';
  return isNone ? undefined : { Bucket, client: new S3Client(NETWORK) };
}

/**
 * Finds mails that name a person: by an address, or as addresses for answers do, by an inquiry's id. docs/adr/0085
 *
 * @returns undefined if the stage takes no answers by mail.
 */
export async function findReceivedMails(
  connection: Connection,
  names: Names,
): Promise<ReceivedMails | undefined> {
  const bucket = await openBucket(connection);
  if (bucket === undefined) return undefined;
  const { client, Bucket } = bucket;
  const addresses = names.addresses.map((address) => address.toLowerCase());
  const ids = names.ids.flatMap((id) => [id, id.replaceAll('-', '')]);
  const isNamed = (text: string): boolean =>
    ids.some((id) => text.includes(id)) || addresses.some((one) => hasAddress(text, one));

  const keys: string[] = [];
  const written: ReceivedMails['written'] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    for (const { Key = '' } of Contents) {
      const command = new GetObjectCommand({ Bucket, Key });
      // The receiver may have removed it meanwhile.
      const stored = await client.send(command).catch(ignore('NoSuchKey'));
      const raw = (await stored?.Body?.transformToByteArray()) ?? new Uint8Array();
      const mail = await parse(raw).catch(() => undefined);
      const texts = [Buffer.from(raw).toString(), ...(mail ? await readTexts(mail) : [])];
      if (!texts.some((text) => isNamed(text.toLowerCase()))) continue;
      keys.push(Key);
      const from = mail?.from?.address?.toLowerCase() ?? '';
      if (mail && addresses.includes(from)) written.push(mail);
    }
  }
  return {
    count: keys.length,
    written,
    async remove() {
      for (const Key of keys) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    },
  };
}
