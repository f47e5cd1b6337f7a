import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { readIfThere, type Main } from '../../lib/command-line.ts';
import { main as openapiDiff } from '../../scripts/openapi-diff.ts';
import { main as openapi } from '../../scripts/openapi.ts';
import { run as runInProcess } from '../helpers/io.ts';
import { ROOT } from '../../lib/paths.ts';

const folder = mkdtempSync(join(tmpdir(), 'inquiries-openapi-'));
const file = join(folder, 'openapi.yaml');
const committed = readFileSync(join(ROOT, 'docs/openapi.yaml'), 'utf8');
afterAll(() => rmSync(folder, { recursive: true }));

/** The commands name files relative to the working folder. */
const cwd = process.cwd();
beforeAll(() => process.chdir(folder));
afterAll(() => process.chdir(cwd));

const run = (main: Main, ...args: string[]) => runInProcess(main, args, { env: process.env });
const read = (path: string) => parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

describe('npm run openapi', () => {
  it('writes the document of a deployment: its URL, stage and version, and the same operations', async () => {
    const args = '--server-url https://api.example.com/v1/ --stage develop --version 1.2.3'.split(
      ' ',
    );
    const written = { code: 0, stdout: 'openapi.yaml\n', stderr: '' };
    expect(await run(openapi, ...args, '--out', file)).toEqual(written);
    const { info, servers, paths } = read(file);
    expect(info).toMatchObject({ version: '1.2.3' });
    expect(servers).toEqual([
      { url: 'https://api.example.com/v1', description: 'The stage develop.' },
    ]);
    expect(paths).toEqual((parse(committed) as Record<string, unknown>)['paths']);
    expect((await run(openapi, ...args, '--out', file, '--check')).code).toBe(0);
  });

  it.each([
    ['differs', committed.replace('maximum: 1000', 'maximum: 999')],
    ['is missing', undefined],
  ])('--check writes nothing and exits 1 when the file %s', async (_, text) => {
    const drifted = join(folder, 'drifted.yaml');
    rmSync(drifted, { force: true });
    if (text !== undefined) writeFileSync(drifted, text);
    expect(await run(openapi, '--check', '--out', drifted)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'drifted.yaml is not what the source says; write it with npm run openapi.\n',
    });
    expect(readIfThere(drifted)).toBe(text);
  });

  it.each(['api.example.com', 'file:///etc', 'https://o/?a=1'])('refuses the URL %s', async (url) =>
    expect(await run(openapi, '--server-url', url)).toMatchObject({ code: 2, stdout: '' }),
  );
});

describe('npm run openapi:diff', () => {
  beforeAll(() => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: folder,
      });
    git('init', '--quiet');
    writeFileSync(file, committed);
    git('add', 'openapi.yaml');
    git('commit', '--quiet', '--message', 'document');
  });

  it.each([
    [1, 'parameter-became-required', 'paths./inquiries.get.parameters.1.required', true],
    [0, '', 'components.schemas.Inquiry.properties.extra', { type: 'string' }],
  ])('exits %i and reports %j when %s becomes %j', async (exit, rule, path, value) => {
    const document = parseDocument(committed);
    document.setIn(path.split('.'), value);
    writeFileSync(file, document.toString());
    const { code, stdout, stderr } = await run(openapiDiff, '--base', 'HEAD', '--document', file);
    expect(stdout + stderr).toContain(rule);
    expect(code).toBe(exit);
  });

  it.each([
    ['', '--base is missing (see --help)\n'],
    ['--base nowhere --document openapi.yaml', 'nowhere is not a revision of this repository.\n'],
    ['--base HEAD --document none.yaml', 'There is no file none.yaml.\n'],
  ])('refuses %j', async (args, stderr) => {
    const outcome = await run(openapiDiff, ...args.split(' ').filter(Boolean));
    expect(outcome).toEqual({ code: 2, stdout: '', stderr });
  });
});
