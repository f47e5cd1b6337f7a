import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFront } from '@aws-sdk/client-cloudfront';
import { S3 } from '@aws-sdk/client-s3';
import { lookup } from 'mrmime';
import { NETWORK } from '../lib/aws/aws.ts';
import { findChromium, launchChromium } from '../lib/pages/chromium.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import { WEB } from '../lib/paths.ts';
import { parseConfig } from '../web/src/config.ts';
import { readLive } from './versions.ts';
import type { StageOutputs } from './stage.ts';

type Site = NonNullable<StageOutputs['site']>;
export type Form = ReadonlyMap<string, Buffer>;

/** The content type by the file's extension; undefined if it is unknown. */
const typeOf = (name: string): string | undefined =>
  lookup(name)?.replace(/^text\/.*/, '$&; charset=utf-8');
/** Files that have the same address in every version of the form. The page, which loads the others, is last. */
const ENTRY = ['inquiry-form.js', 'config.json', 'index.html'];
/** Milliseconds until a page shows something to click, or a file is loaded. */
const timeout = 20_000;

/**
 * Reads web/dist, and adds config.json.
 *
 * @param connectOrigins - Where the page may connect to; none: as built.
 * @throws UsageError if the form would refuse its settings, or cannot be served.
 */
export function readForm(config: object, connectOrigins: string[]): Form {
  const cwd = join(WEB, 'dist');
  const names = globSync('**/*.*', { cwd });
  try {
    const unknown = names.find((name) => typeOf(name) === undefined);
    if (unknown !== undefined) throw new Error(`${unknown} has no content type that is known.`);
    const { logo = 'index.html' } = parseConfig(config);
    if (!names.includes(logo)) throw new Error(`“logo” is not in web/public: “${logo}”.`);
  } catch (error) {
    throw new UsageError(`The form cannot be served: ${(error as Error).message}`);
  }
  const files = new Map(names.map((name) => [name, readFileSync(join(cwd, name))]));
  files.set('config.json', Buffer.from(`${JSON.stringify(config, null, 2)}\n`));
  if (connectOrigins.length === 0) return files;
  const policy = `connect-src 'self' ${connectOrigins.join(' ')}`;
  const page = String(files.get('index.html')).replace(/connect-src [^;"]*/, policy);
  return files.set('index.html', Buffer.from(page));
}

/** The form as this checkout builds it for a stage; undefined if the stage has none. */
export const readStageForm = ({
  form_config: config,
  connect_origins: origins = [],
}: StageOutputs): Form | undefined => (config ? readForm(config, origins) : undefined);

/**
 * Opens the form in Chromium until it shows a button to sign in.
 *
 * @param form - Answers requests to `url`; undefined: they go there.
 * @returns What was done, for the terminal.
 * @throws Error with what the browser says.
 */
export async function runForm(
  url: string,
  form: Form | undefined,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const path = findChromium(env);
  if (path === undefined) return 'not run: no Chromium is installed (CHROMIUM_PATH names one)';
  const browser = await launchChromium(path);
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    if (form !== undefined) {
      await page.route(`${url}**`, (route, request) => {
        const name = new URL(request.url()).pathname.slice(1) || 'index.html';
        const body = form.get(name);
        return body === undefined
          ? route.fulfill({ status: 403 })
          : route.fulfill({ body, contentType: typeOf(name) ?? '' });
      });
    }
    const shown = page.goto(url).then(() => page.waitForSelector('main button', { timeout }));
    const failed = page.waitForEvent('pageerror', { timeout }).then((error) => {
      throw error;
    });
    await Promise.race([shown, failed]).catch(({ message }: Error) => {
      const [line = ''] = message.split('\n');
      throw new Error(`the form does not run: ${[line, ...complaints].join('; ')}`);
    });
    return 'run in Chromium';
  } finally {
    await browser.close();
  }
}

/** Compares what a stage serves with what was built. @returns A text for each file that differs. */
export async function listDifferences(url: string, form: Form): Promise<string[]> {
  const differences = await Promise.all(
    [...form].map(async ([name, content]) => {
      try {
        const signal = AbortSignal.timeout(timeout);
        const response = await fetch(new URL(name === 'index.html' ? '' : name, url), { signal });
        if (!response.ok) return `${name} is answered with ${response.status}`;
        const served = Buffer.from(await response.arrayBuffer());
        return content.equals(served) ? '' : `${name} is not the one that was built`;
      } catch (error) {
        return `${name} cannot be loaded: ${(error as Error).message}`;
      }
    }),
  );
  return differences.filter(Boolean);
}

const isAsset = (name: string): boolean => name.startsWith('assets/');
const folderOf = (version: string): string => `versions/${version}/`;

const byUse = (a: string, b: string): number => ENTRY.indexOf(a) - ENTRY.indexOf(b);

/** Assets may be kept for a year, since their names contain a hash of the content. */
function cacheControl(name: string): string {
  if (ENTRY.includes(name)) return 'no-cache';
  return isAsset(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
}

/**
 * Uploads assets, whose names are new in every build, and other files to a folder of the version, which users do not
 * see yet. Assets of earlier builds stay for open pages.
 */
export async function uploadForm(
  { bucket: Bucket }: Site,
  version: string,
  form: Form,
): Promise<void> {
  const s3 = new S3(NETWORK);
  for (const [name, Body] of [...form].toSorted(([a], [b]) => byUse(a, b))) {
    await s3.putObject({
      Bucket,
      Key: isAsset(name) ? name : folderOf(version) + name,
      Body,
      CacheControl: cacheControl(name),
      ContentType: typeOf(name),
    });
  }
}

async function listUploaded({ bucket: Bucket }: Site, version: string): Promise<string[]> {
  const Prefix = folderOf(version);
  const { Contents = [] } = await new S3(NETWORK).listObjectsV2({ Bucket, Prefix });
  return Contents.map(({ Key = '' }) => Key.slice(Prefix.length));
}

/** The form of a version as it was uploaded, without assets. */
export async function readUploadedForm(site: Site, version: string): Promise<Form> {
  const s3 = new S3(NETWORK);
  const names = await listUploaded(site, version);
  const read = async (name: string) => {
    const Key = folderOf(version) + name;
    const { Body } = await s3.getObject({ Bucket: site.bucket, Key });
    return [name, Buffer.from((await Body?.transformToByteArray()) ?? [])] as const;
  };
  return new Map(await Promise.all(names.map(read)));
}

/**
 * Copies each file of the live version's form, the page last, and tells CloudFront. If another command changes the live
 * version meanwhile, it begins again, so that form and function belong together whoever ends last.
 *
 * @returns The version; undefined if it has no form, or not a whole one, so that what was served stays.
 */
export async function serveForm(site: Site, functionName: string): Promise<string | undefined> {
  const { bucket: Bucket, distribution_id: DistributionId } = site;
  const s3 = new S3(NETWORK);
  const { version } = await readLive(functionName);
  const names = await listUploaded(site, version);
  if (!names.includes('index.html')) return undefined;
  for (const Key of names.toSorted(byUse)) {
    await s3.copyObject({ Bucket, Key, CopySource: `${Bucket}/${folderOf(version)}${Key}` });
  }
  const InvalidationBatch = {
    CallerReference: crypto.randomUUID(),
    Paths: { Quantity: 1, Items: ['/*'] },
  };
  await new CloudFront(NETWORK).createInvalidation({ DistributionId, InvalidationBatch });
  const { version: now } = await readLive(functionName);
  return now === version ? version : serveForm(site, functionName);
}
