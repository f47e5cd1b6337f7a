import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { readIfThere } from '../../scripts/cli.ts';
import { listQuerySchema, parseListQuery } from '../../src/contract.ts';
import { INQUIRY } from '../helpers/events.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'inquiries-openapi-'));
const file = join(folder, 'openapi.yaml');
const committed = readFileSync(join(ROOT, 'docs/openapi.yaml'), 'utf8');
afterAll(() => rmSync(folder, { recursive: true }));

const run = (script: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, script), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};
const read = (path: string) => parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

describe('npm run openapi', () => {
  it('--check passes for the committed document', () => {
    expect(run('scripts/openapi.ts', '--check')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('writes the document of a deployment: its URL, stage and version, and the same operations', () => {
    const args = ['--server-url', 'https://api.example.com/v1/', '--stage', 'develop', '--version', '1.2.3'];
    expect(run('scripts/openapi.ts', ...args, '--out', file)).toEqual({
      status: 0,
      stdout: 'openapi.yaml\n',
      stderr: '',
    });
    const { info, servers, paths } = read(file);
    expect(info).toMatchObject({ version: '1.2.3' });
    expect(servers).toEqual([{ url: 'https://api.example.com/v1', description: 'The stage develop.' }]);
    expect(paths).toEqual((parse(committed) as Record<string, unknown>)['paths']);
    expect(run('scripts/openapi.ts', ...args, '--out', file, '--check').status).toBe(0);
  });

  it('writes JSON to a file that ends in .json', () => {
    const json = join(folder, 'openapi.json');
    expect(run('scripts/openapi.ts', '--out', json).status).toBe(0);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toEqual(parse(committed));
  });

  it.each([
    ['differs', committed.replace('maximum: 1000', 'maximum: 999')],
    ['is missing', undefined],
  ])('--check writes nothing and exits 1 when the file %s', (_, text) => {
    const drifted = join(folder, 'drifted.yaml');
    rmSync(drifted, { force: true });
    if (text !== undefined) writeFileSync(drifted, text);
    expect(run('scripts/openapi.ts', '--check', '--out', drifted)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'drifted.yaml is not what the source says; write it with npm run openapi.\n',
    });
    expect(readIfThere(drifted)).toBe(text);
  });

  it.each([
    [
      ['--server-url', 'api.example.com'],
      "--server-url must be an http(s) URL without a query, not 'api.example.com'.\n",
    ],
    [
      ['--server-url', 'file:///etc'],
      "--server-url must be an http(s) URL without a query, not 'file:///etc'.\n",
    ],
    [
      ['--server-url', 'https://o/?a=1'],
      "--server-url must be an http(s) URL without a query, not 'https://o/?a=1'.\n",
    ],
    [['--stage', ''], '--stage and --version need a value.\n'],
    [['--outt', 'x'], "Unknown option '--outt' (see --help)\n"],
  ])('refuses %j in one line with exit code 2', (args, stderr) => {
    expect(run('scripts/openapi.ts', ...args)).toEqual({ status: 2, stdout: '', stderr });
  });
});

describe('the pattern of `before`', () => {
  const pattern = new RegExp(listQuerySchema.properties.before.pattern);
  const accepts = (before: string): boolean => {
    try {
      return parseListQuery({ before }) !== undefined;
    } catch {
      return false;
    }
  };
  const notations = [
    (id: string) => id,
    (id: string) => `{${id}}`,
    (id: string) => `urn:uuid:${id}`,
    (id: string) => id.replaceAll('-', ''),
  ];
  const cases = [(id: string) => id, (id: string) => id.toUpperCase()];

  it('matches a UUID in any notation exactly when the service accepts it: version 7 and no other', () => {
    const [notation, letters] = [fc.constantFrom(...notations), fc.constantFrom(...cases)];
    const uuid = fc.oneof(fc.uuid({ version: 7 }), fc.uuid(), fc.stringMatching(UUID));
    let accepted = 0;
    fc.assert(
      fc.property(uuid, notation, letters, (id, write, change) => {
        const text = change(write(id));
        if (accepts(text)) accepted++;
        expect([text, pattern.test(text)]).toEqual([text, accepts(text)]);
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it.each(['', 'yesterday', '{}', `x${INQUIRY.id}`, `${INQUIRY.id}x`, `${INQUIRY.id}\n`])(
    'does not match %j',
    (text) => {
      expect([pattern.test(text), accepts(text)]).toEqual([false, false]);
    },
  );
});

describe('npm run openapi:diff', () => {
  beforeAll(() => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'empty');
    git('tag', 'before');
    writeFileSync(file, committed);
    git('add', 'openapi.yaml');
    git('commit', '--quiet', '--message', 'document');
  });
  beforeEach(() => writeFileSync(file, committed));

  type Change = (document: Document) => unknown;
  const diff = (change: Change, base = 'HEAD') => {
    const document = parseDocument(committed);
    change(document);
    expect(document.errors).toEqual([]);
    writeFileSync(file, document.toString());
    return run('scripts/openapi-diff.ts', '--base', base, '--document', file);
  };
  const INQUIRY_SCHEMA = ['components', 'schemas', 'Inquiry'];
  const REQUEST = ['components', 'schemas', 'CreateInquiryRequest'];
  const LIST = ['components', 'schemas', 'InquiryListResponse'];
  const GET = ['paths', '/inquiries', 'get'];
  const POST = ['paths', '/inquiries', 'post'];

  it.each<[string, RegExp, Change]>([
    [
      'a field of a response is removed',
      /property-removed/,
      (document) => {
        document.deleteIn([...INQUIRY_SCHEMA, 'properties', 'email']);
        document.deleteIn([...INQUIRY_SCHEMA, 'required', 2]);
      },
    ],
    [
      'a field of a response may be missing',
      /required-properties-removed/,
      (document) => document.deleteIn([...INQUIRY_SCHEMA, 'required', 2]),
    ],
    [
      'a field of a request is newly required',
      /required-properties-added/,
      (document) => {
        document.setIn([...REQUEST, 'properties', 'phone'], { type: 'string' });
        document.addIn([...REQUEST, 'required'], 'phone');
      },
    ],
    [
      'a status is changed',
      /response-removed/,
      (document) => {
        document.setIn([...POST, 'responses', '200'], document.getIn([...POST, 'responses', '201']));
        document.deleteIn([...POST, 'responses', '201']);
      },
    ],
    ['an operation is removed', /operation-removed/, (document) => document.deleteIn(POST)],
    [
      'a type is changed',
      /schema-type-changed/,
      (document) => document.setIn([...LIST, 'properties', 'count', 'type'], 'string'),
    ],
    [
      'a limit is tightened',
      /schema-constraint-changed/,
      (document) => document.setIn([...GET, 'parameters', 0, 'schema', 'maximum'], 100),
    ],
    [
      'a header of a response is removed',
      /response-header-removed/,
      (document) => document.deleteIn([...GET, 'responses', '200', 'headers', 'Link']),
    ],
    [
      'a parameter is newly required',
      /parameter-became-required/,
      (document) => document.setIn([...GET, 'parameters', 1, 'required'], true),
    ],
    [
      'another way to sign in is asked for',
      /security-requirement-changed/,
      (document) => {
        document.setIn(['components', 'securitySchemes', 'key'], {
          type: 'apiKey',
          in: 'header',
          name: 'key',
        });
        document.setIn(['security', 0, 'key'], []);
      },
    ],
  ])('exits 1 and names the rule when %s', (_, rule, change) => {
    const { status, stdout, stderr } = diff(change);
    expect(stdout + stderr).toMatch(rule);
    expect(status).toBe(1);
  });

  it.each<[string, Change]>([
    ['nothing changed', () => undefined],
    ['a sentence changed', (document) => document.setIn(['info', 'description'], 'x')],
    [
      'a field of a response was added',
      (document) => document.setIn([...INQUIRY_SCHEMA, 'properties', 'extra'], { type: 'string' }),
    ],
    [
      'an optional field of a request was added',
      (document) => document.setIn([...REQUEST, 'properties', 'phone'], { type: 'string' }),
    ],
    [
      'a limit was raised',
      (document) => document.setIn([...GET, 'parameters', 0, 'schema', 'maximum'], 2000),
    ],
  ])('exits 0 when %s', (_, change) => {
    expect(diff(change).status).toBe(0);
  });

  it('exits 0 for a revision that has no document', () => {
    expect(diff(() => undefined, 'before')).toEqual({
      status: 0,
      stdout: 'before has no openapi.yaml: nothing to compare with.\n',
      stderr: '',
    });
  });

  it.each([
    [[], '--base is missing (see --help)\n'],
    [['--base', 'nowhere', '--document', file], 'nowhere is not a revision of this repository.\n'],
    [['--base'], "Option '--base <value>' argument missing (see --help)\n"],
    [['--base', 'HEAD', '--document', 'none.yaml'], 'There is no file none.yaml.\n'],
  ])('refuses %j in one line with exit code 2', (args, stderr) => {
    expect(run('scripts/openapi-diff.ts', ...args)).toEqual({
      status: 2,
      stdout: '',
      stderr,
    });
  });
});
