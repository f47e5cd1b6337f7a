/** Uploads the built form to the bucket of a stage, and tells CloudFront. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront';
import {
  HeadObjectCommand,
  NotFound,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { parseConfig } from '../web/src/config.ts';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';
import { WEB } from '../lib/paths.ts';

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
/** Served under the same address in every version of the form, and needed in the version of the assets. */
const ENTRY = ['inquiry-form.js', 'config.json', 'index.html'];

export interface Site {
  readonly bucket: string;
  readonly distribution_id: string;
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
  if (parts.length !== 2) throw new Error(`index.html has connect-src ${parts.length - 1} times, not once.`);
  return parts.join(`connect-src 'self' ${origins.join(' ')}`);
}

/** Uploads a file unless the bucket has it already, with the same headers. @returns Whether it was uploaded. */
async function upload(s3: S3Client, bucket: string, key: string, body: Buffer): Promise<boolean> {
  const headers = { CacheControl: cacheControl(key), ContentType: TYPES[extname(key)] };
  if (headers.ContentType === undefined) throw new Error('its content type is not known');
  const place = { Bucket: bucket, Key: key };
  const present = await s3.send(new HeadObjectCommand(place)).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  if (
    present?.ETag === `"${createHash('md5').update(body).digest('hex')}"` &&
    present.CacheControl === headers.CacheControl &&
    present.ContentType === headers.ContentType
  ) {
    return false;
  }
  await s3.send(new PutObjectCommand({ ...place, ...headers, Body: body }));
  return true;
}

/** The order of the upload: assets, other files, inquiry-form.js, config.json, index.html. */
const rank = (key: string): number => (key.startsWith('assets/') ? 0 : ENTRY.indexOf(key) + 2);

/**
 * Uploads web/dist with config.json, the page that names the others last. Assets of earlier builds stay, since
 * pages that are open may still load them.
 *
 * @returns The keys that were uploaded.
 * @throws Error when the form would refuse its settings; nothing is uploaded then.
 */
export async function uploadForm(
  { bucket, distribution_id: distribution }: Site,
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

  const s3 = new S3Client(NETWORK);
  const uploaded: string[] = [];
  for (const [key, body] of [...contents].toSorted(([a], [b]) => rank(a) - rank(b))) {
    // From inquiry-form.js on, the others and CloudFront follow at once: an interruption waits for them.
    if (!ENTRY.includes(key)) interruption.throwIfAborted();
    const isNew = await upload(s3, bucket, key, body).catch((error: Error) => {
      // S3 answers some requests without a text.
      const status = error instanceof S3ServiceException ? ` (${error.$metadata.httpStatusCode})` : '';
      throw new Error(`web/dist/${key} was not uploaded to ${bucket}: ${error.message}${status}`, {
        cause: error,
      });
    });
    if (isNew) uploaded.push(key);
  }
  if (uploaded.length > 0) {
    const items = ['/', ...ENTRY.map((key) => `/${key}`)];
    const batch = { CallerReference: crypto.randomUUID(), Paths: { Quantity: items.length, Items: items } };
    await new CloudFrontClient(NETWORK).send(
      new CreateInvalidationCommand({ DistributionId: distribution, InvalidationBatch: batch }),
    );
  }
  return uploaded;
}
