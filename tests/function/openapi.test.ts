import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readIfThere } from '../../lib/command-line.ts';
import { main } from '../../scripts/openapi.ts';
import { createFolder } from '../helpers/data-folder.ts';
import { run } from '../helpers/io.ts';
import { readText } from '../helpers/repository.ts';

const file = join(createFolder(afterAll), 'openapi.yaml');
const committed = readText('docs/openapi.yaml');

it('writes the document of a deployment: its URL, stage and version, and the same operations', async () => {
  const url = 'https://api.example.com/v1';
  const args = `--server-url ${url}/ --stage develop --version 1.2.3 --out ${file}`;
  expect((await run(main, args)).code).toBe(0);
  expect(parse(readIfThere(file) ?? '')).toMatchObject({
    info: { version: '1.2.3' },
    servers: [{ url, description: 'The stage develop.' }],
    paths: (parse(committed) as { paths: object }).paths,
  });
  expect((await run(main, `${args} --check`)).code).toBe(0);
});

it.each([
  ['differs', committed.replace('maximum: 1000', 'maximum: 999')],
  ['is missing', undefined],
])('--check writes nothing and exits 1 when the file %s', async (_, text) => {
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  const { code, stderr } = await run(main, `--check --out ${file}`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/is not what the source says; write it with npm run openapi\.\n$/);
  expect(readIfThere(file)).toBe(text);
});

it.each(['api.example.com', 'file:///etc', 'https://o/?a=1'])('refuses the URL %s', async (url) =>
  expect(await run(main, `--server-url ${url}`)).toMatchObject({ code: 2, stdout: '' }),
);
