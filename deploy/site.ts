/** The built form in the bucket of a stage: uploaded for a version of the function, and served together with it. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { NotFound, S3, S3ServiceException } from '@aws-sdk/client-s3';
import { parseConfig } from '../web/src/config.ts';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';
import { WEB } from '../lib/paths.ts';
import { readLive } from './versions.ts';

const FOLDER = join(WEB, 'dist');
/** Of what Vite writes, and of logos. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};
/** Served under the same address in every version of the form, and needed in the version of the assets; the page comes last. */
const ENTRY = ['inquiry-form.js', 'config.json', 'index.html'];

export interface Site {
  readonly bucket: string;
  readonly distribution_id: string;
  /** With a slash at the end. */
  readonly url: string;
}

/** Vite's names of assets hold a hash of the content, other names do not. */
function cacheControl(key: string): string {
  if (ENTRY.includes(key)) return 'no-cache';
  return key.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
}

/** @throws UsageError when the form would refuse its settings, or its logo is not in the build or of a known type. */
export function checkConfig(config: object): void {
  try {
    const { logo } = parseConfig(config);
    if (logo === undefined || (extname(logo) in TYPES && existsSync(join(FOLDER, logo)))) return;
    throw new Error(`“logo” must be an SVG, PNG, JPEG or WebP file in web/public, not “${logo}”.`);
  } catch (error) {
    throw new UsageError(
      `The form would refuse its settings: ${(error as Error).message} Nothing was changed.`,
    );
  }
}

/**
 * The page with the addresses it may connect to in its policy.
 *
 * @param origins - None: the policy stays as it was built.
 */
export function narrowPolicy(page: string, origins: readonly string[]): string {
  if (origins.length === 0) return page;
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error(`The output connect_origins has "${origin}", which is not an origin.`);
    }
  }
  const parts = page.split(/connect-src [^;"]*/);
  if (parts.length !== 2) {
    throw new Error(`index.html has connect-src ${parts.length - 1} times, not once.`);
  }
  return parts.join(`connect-src 'self' ${origins.join(' ')}`);
}

/** What tells a file from another one; undefined if there is none. */
async function describe(
  s3: S3,
  place: { Bucket: string; Key: string },
): Promise<string | undefined> {
  try {
    const { ETag, CacheControl, ContentType } = await s3.headObject(place);
    return `${ETag} ${CacheControl} ${ContentType}`;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** Uploads a file unless the bucket has it already, with the same headers. @returns Whether it was uploaded. */
async function upload(
  s3: S3,
  Bucket: string,
  Key: string,
  file: string,
  Body: Buffer,
): Promise<boolean> {
  const [CacheControl, ContentType] = [cacheControl(file), TYPES[extname(file)]];
  if (ContentType === undefined) throw new Error('its content type is not known');
  const description = `"${createHash('md5').update(Body).digest('hex')}" ${CacheControl} ${ContentType}`;
  if ((await describe(s3, { Bucket, Key })) === description) return false;
  await s3.putObject({ Bucket, Key, CacheControl, ContentType, Body });
  return true;
}

/** The form that belongs to a version of the function, apart from its assets. */
const folderOf = (version: string): string => `versions/${version}/`;

/**
 * Uploads web/dist with config.json, where users do not see it yet: assets, whose names are their own in every build, and all
 * other files to a folder of the function's version. Assets of earlier builds stay, since pages that are open may still load
 * them.
 *
 * @returns The keys that were uploaded.
 * @throws Error when the form would refuse its settings; nothing is uploaded then.
 */
export async function uploadForm(
  { bucket }: Site,
  version: string,
  config: unknown,
  connectOrigins: readonly string[],
  interruption: AbortSignal,
): Promise<string[]> {
  parseConfig(config);
  const contents = new Map<string, Buffer>(
    globSync('**/*.*', { cwd: FOLDER }).map((key) => [key, readFileSync(join(FOLDER, key))]),
  );
  const page = contents.get('index.html')?.toString() ?? '';
  contents.set('index.html', Buffer.from(narrowPolicy(page, connectOrigins)));
  contents.set('config.json', Buffer.from(`${JSON.stringify(config, null, 2)}\n`));

  const s3 = new S3(NETWORK);
  const uploaded: string[] = [];
  for (const [file, body] of contents) {
    interruption.throwIfAborted();
    const key = file.startsWith('assets/') ? file : folderOf(version) + file;
    const isNew = await upload(s3, bucket, key, file, body).catch((error: Error) => {
      // S3 answers some requests without a text.
      const status =
        error instanceof S3ServiceException ? ` (${error.$metadata.httpStatusCode})` : '';
      throw new Error(`web/dist/${file} was not uploaded to ${bucket}: ${error.message}${status}`, {
        cause: error,
      });
    });
    if (isNew) uploaded.push(key);
  }
  return uploaded;
}

async function listFiles(s3: S3, Bucket: string, version: string): Promise<string[]> {
  const folder = folderOf(version);
  const { Contents = [] } = await s3.listObjectsV2({ Bucket, Prefix: folder });
  return Contents.map(({ Key = '' }) => Key.slice(folder.length));
}

/**
 * Makes the form of the live version the one that users get, and tells CloudFront: one copy of each file that differs, the page
 * that names the others last. If somebody else has changed the live version meanwhile, it begins again, so that form and
 * function belong together whoever ends last.
 *
 * @returns The files that were changed; undefined if the live version has no form of its own.
 */
export async function serveForm(site: Site, functionName: string): Promise<string[] | undefined> {
  const { bucket: Bucket, distribution_id } = site;
  const s3 = new S3(NETWORK);
  const { version } = await readLive(functionName);
  const files = await listFiles(s3, Bucket, version);
  const changed: string[] = [];
  for (const file of files.toSorted((a, b) => ENTRY.indexOf(a) - ENTRY.indexOf(b))) {
    const Key = folderOf(version) + file;
    if ((await describe(s3, { Bucket, Key })) === (await describe(s3, { Bucket, Key: file }))) {
      continue;
    }
    await s3.copyObject({ Bucket, Key: file, CopySource: `${Bucket}/${Key}` });
    changed.push(file);
  }
  if (changed.length > 0) {
    const items = ['/', ...ENTRY.map((key) => `/${key}`)];
    const batch = {
      CallerReference: crypto.randomUUID(),
      Paths: { Quantity: items.length, Items: items },
    };
    const cloudFront = new CloudFront(NETWORK);
    await cloudFront.createInvalidation({
      DistributionId: distribution_id,
      InvalidationBatch: batch,
    });
  }
  if ((await readLive(functionName)).version !== version) return serveForm(site, functionName);
  return files.length === 0 ? undefined : changed;
}

/** Deletes what {@link uploadForm} has uploaded for a version, apart from assets. */
export async function deleteForm({ bucket: Bucket }: Site, version: string): Promise<void> {
  const s3 = new S3(NETWORK);
  for (const file of await listFiles(s3, Bucket, version)) {
    await s3.deleteObject({ Bucket, Key: folderOf(version) + file });
  }
}
