import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { unzipSync } from 'fflate';
import { afterAll, expect, it, vi } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { main } from '../../scripts/build.ts';
import { createFolder } from '../local/data-folder.ts';
import { run } from '../local/io.ts';

const folder = createFolder(afterAll);

async function build(TZ: string) {
  const out = join(folder, TZ);
  vi.stubEnv('TZ', TZ);
  await run(main, ['--out', out]);
  return (file: string): Buffer => readFileSync(join(out, file));
}
const read = await build('UTC');
const readAgain = await build('Asia/Tokyo');

const INBOX_FILES = [
  'inbox/page/script.js',
  'inbox/page/style.css',
  // A team may have saved replies of its own.
  ...globSync('saved-replies.json', { cwd: ROOT }),
  'ui/first-paint.css',
  'ui/style.css',
  'web/public/favicon.svg',
];

const PACKAGES: [string, string[], number][] = [
  ['inquiries.zip', ['handler.mjs'], 85],
  ['mailer.zip', ['mailer.mjs', 'receiver.mjs'], 550],
  ['inbox.zip', ['inbox/handler.mjs', ...INBOX_FILES], 230],
];
it.each(PACKAGES)(
  '%s holds %s alone, has at most %i KB, depends on no time zone, names no path',
  (zip, modules, kilobytes) => {
    const files = unzipSync(read(zip));
    expect(Object.keys(files)).toEqual(modules);
    for (const module of modules.filter((each) => each.endsWith('.mjs'))) {
      expect(read(module).equals(files[module] ?? Buffer.of())).toBe(true);
      expect(read(module).includes(ROOT)).toBe(false);
    }
    expect(read(zip).length / 1024).toBeLessThan(kilobytes);
    expect(readAgain(zip).equals(read(zip))).toBe(true);
  },
);

it('the handler holds every shim, and neither ElectroDB, SES nor the mailer', () => {
  const { outputs } = JSON.parse(read('handler.meta.json').toString()) as Metafile;
  const inputs = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );
  expect(inputs).toEqual(expect.arrayContaining(globSync('src/shims/*.ts', { cwd: ROOT })));
  const others =
    /^(?!src\/shims\/).*(electrodb|sesv2|lib-dynamodb|credential-provider|mail\/|delivery)/;
  expect(inputs.filter((path) => others.test(path))).toEqual([]);
});
