/** The form in the bucket of a stage: uploaded for a version of the function, and served together with it. */
import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { NotFound, S3 } from '@aws-sdk/client-s3';
import { NETWORK } from '../lib/aws.ts';
import { TYPES, type Form } from './form.ts';
import { readLive } from './versions.ts';

/** Served under the same address in every version of the form, and needed in the version of the assets; the page comes last. */
const ENTRY = ['inquiry-form.js', 'config.json', 'index.html'];

/** infra/terraform/outputs.tf */
export interface Site {
  readonly bucket: string;
  readonly distribution_id: string;
  /** With a slash at the end. */
  readonly url: string;
}

/** Vite's names of assets hold a hash of the content, other names do not. */
function cacheControl(name: string): string {
  if (ENTRY.includes(name)) return 'no-cache';
  return name.startsWith('assets/')
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=3600';
}

/** What tells a file from another one; undefined if there is none. */
async function describe(s3: S3, Bucket: string, Key: string): Promise<string | undefined> {
  try {
    const { ETag, CacheControl, ContentType } = await s3.headObject({ Bucket, Key });
    return `${ETag} ${CacheControl} ${ContentType}`;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** The form that belongs to a version of the function, apart from its assets. */
const folderOf = (version: string): string => `versions/${version}/`;

/**
 * Uploads a form where users do not see it yet: assets, whose names are their own in every build, and all other files to a
 * folder of the function's version. Assets of earlier builds stay, since pages that are open may still load them.
 */
export async function uploadForm(
  { bucket: Bucket }: Site,
  version: string,
  form: Form,
  interruption: AbortSignal,
): Promise<void> {
  const s3 = new S3(NETWORK);
  for (const [name, Body] of form) {
    interruption.throwIfAborted();
    const Key = name.startsWith('assets/') ? name : folderOf(version) + name;
    const [CacheControl, ContentType] = [cacheControl(name), TYPES[extname(name)]];
    const description = `"${createHash('md5').update(Body).digest('hex')}" ${CacheControl} ${ContentType}`;
    if ((await describe(s3, Bucket, Key)) !== description) {
      await s3.putObject({ Bucket, Key, CacheControl, ContentType, Body });
    }
  }
}

/**
 * Makes the form of the live version the one that users get, and tells CloudFront: one copy of each file that differs, the page
 * that names the others last. If another deployment changes the live version during this, it begins again, so that form and
 * function belong together whoever ends last.
 *
 * @returns The files that were changed.
 */
export async function serveForm(site: Site, functionName: string): Promise<string[]> {
  const { bucket: Bucket, distribution_id: DistributionId } = site;
  const s3 = new S3(NETWORK);
  const { version } = await readLive(functionName);
  const Prefix = folderOf(version);
  const { Contents = [] } = await s3.listObjectsV2({ Bucket, Prefix });
  const names = Contents.map(({ Key = '' }) => Key.slice(Prefix.length));
  const changed: string[] = [];
  for (const name of names.toSorted((a, b) => ENTRY.indexOf(a) - ENTRY.indexOf(b))) {
    const source = Prefix + name;
    if ((await describe(s3, Bucket, source)) !== (await describe(s3, Bucket, name))) {
      await s3.copyObject({ Bucket, Key: name, CopySource: `${Bucket}/${source}` });
      changed.push(name);
    }
  }
  if (changed.length > 0) {
    const Items = ['/', ...changed.map((name) => `/${name}`)];
    const Paths = { Quantity: Items.length, Items };
    await new CloudFront(NETWORK).createInvalidation({
      DistributionId,
      InvalidationBatch: { CallerReference: crypto.randomUUID(), Paths },
    });
  }
  if ((await readLive(functionName)).version !== version) return serveForm(site, functionName);
  return changed;
}
