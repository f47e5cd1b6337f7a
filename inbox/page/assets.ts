import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';

const read = (...files: string[]): string =>
  files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');

/** The package of the stage has these files at the same places (scripts/build.ts). */
const ASSET_FILES = {
  'style.css': ['ui/first-paint.css', 'ui/style.css', 'inbox/page/style.css'],
  'script.js': ['inbox/page/script.js'],
  'favicon.svg': ['web/public/favicon.svg'],
} as const;

const TYPES = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;

/** By path. Its hash is in the address, so that browsers keep it until it changes. */
const toAsset = (name: keyof typeof ASSET_FILES) => {
  const data = read(...ASSET_FILES[name]);
  const hash = createHash('sha256').update(data).digest('base64url').slice(0, 12);
  const type = TYPES[name.slice(name.indexOf('.') + 1) as keyof typeof TYPES];
  return { data, type: `${type}; charset=utf-8`, href: `/${name}?${hash}` };
};

export const ASSETS = {
  'style.css': toAsset('style.css'),
  'script.js': toAsset('script.js'),
  'favicon.svg': toAsset('favicon.svg'),
};
