import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse, parseDocument, visit } from 'yaml';
import { readIfThere } from '../../lib/terminal/command-line.ts';
import { main } from '../../scripts/openapi.ts';
import { createFolder } from '../local/data-folder.ts';
import { run } from '../local/io.ts';
import { readText } from '../helpers/repository.ts';

const file = join(createFolder(afterAll), 'openapi.yaml');
const committed = readText('docs/openapi.yaml');

it('writes the document of a deployment: its URL and stage, and the same operations', async () => {
  const url = 'https://api.example.com/v1';
  const args = `--server-url ${url}/ --stage develop --out '${file}'`;
  expect((await run(main, args)).code).toBe(0);
  expect(parse(readIfThere(file) ?? '')).toMatchObject({
    servers: [{ url, description: 'The stage develop.' }],
    paths: (parse(committed) as { paths: object }).paths,
  });
  expect((await run(main, `${args} --check`)).code).toBe(0);
});

it('quotes every text that a reader of YAML 1.1 would refuse or take for something else', () => {
  const plain: unknown[] = [];
  visit(parseDocument(committed), {
    Scalar(key, node) {
      if (key !== 'key' && node.type === 'PLAIN') plain.push(node.value);
    },
  });
  const isOther = /[?:]|^(y|n|yes|no|on|off|~|\d+(\.\d+)?|\d{4}-\d\d-\d\d.*)$/i;
  expect(plain.filter((one) => typeof one === 'string' && isOther.test(one))).toEqual([]);
});

it.each([
  ['differs', committed.replace('maximum: 1000', 'maximum: 999')],
  ['is missing', undefined],
])('--check writes nothing and exits 1 when the file %s', async (_, text) => {
  rmSync(file, { force: true });
  if (text !== undefined) writeFileSync(file, text);
  const { code, stderr } = await run(main, `--check --out '${file}'`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/is out of date; run npm run openapi\.\n$/);
  expect(readIfThere(file)).toBe(text);
});

it.each(['api.example.com', 'file:///etc', 'https://o/?a=1'])('refuses the URL %s', async (url) =>
  expect(await run(main, `--server-url ${url}`)).toMatchObject({ code: 2, stdout: '' }),
);
