import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { readIfThere } from '../../lib/command-line.ts';
import { listQuerySchema, parseListQuery } from '../../src/contract.ts';
import { readIdempotencyKey } from '../../src/http.ts';
import { formats } from '../helpers/contract.ts';
import { INQUIRY } from '../helpers/events.ts';
import { ROOT } from '../../lib/paths.ts';

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

  const notUrl = (text: string) => `--server-url must be an http(s) URL without a query, not '${text}'.\n`;
  it.each([
    [['--server-url', 'api.example.com'], notUrl('api.example.com')],
    [['--server-url', 'file:///etc'], notUrl('file:///etc')],
    [['--server-url', 'https://o/?a=1'], notUrl('https://o/?a=1')],
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
  const notations = ['ID', '{ID}', 'urn:uuid:ID', 'HEX'];

  it('matches a UUID in any notation exactly when the service accepts it: version 7 and no other', () => {
    const uuid = fc.oneof(fc.uuid({ version: 7 }), fc.uuid(), fc.stringMatching(formats.uuid));
    let accepted = 0;
    fc.assert(
      fc.property(uuid, fc.constantFrom(...notations), fc.boolean(), (id, notation, isUpperCase) => {
        const written = notation.replace('ID', id).replace('HEX', id.replaceAll('-', ''));
        const text = isUpperCase ? written.toUpperCase() : written;
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

describe('the pattern of `Idempotency-Key`', () => {
  interface Document {
    readonly paths: {
      '/inquiries': { post: { parameters: { name: string; schema: { pattern: string } }[] } };
    };
  }
  const [parameter] = (parse(committed) as Document).paths['/inquiries'].post.parameters;
  // With the flag of JSON Schema's regular expressions.
  const pattern = new RegExp(parameter?.schema.pattern ?? '', 'u');
  const accepts = (key: string): boolean => {
    try {
      return readIdempotencyKey({ headers: { 'idempotency-key': key } }) !== undefined;
    } catch {
      return false;
    }
  };

  it('matches a header exactly when the service accepts it', () => {
    const unit = fc.oneof(
      fc.constantFrom('"', '\\', ',', ' ', '!', '~', '\u007f', 'é', '\n'),
      fc.string({ maxLength: 1 }),
    );
    const text = fc.oneof(fc.string({ unit, maxLength: 10 }), fc.string({ minLength: 253, maxLength: 258 }));
    const header = fc.oneof(
      text,
      text.map((inner) => `"${inner}"`),
      text.map((inner) => JSON.stringify(inner)),
    );
    let accepted = 0;
    fc.assert(
      fc.property(header, (key) => {
        if (accepts(key)) accepted++;
        expect([key, pattern.test(key)]).toEqual([key, accepts(key)]);
      }),
      { numRuns: 5_000 },
    );
    expect(parameter?.name).toBe('Idempotency-Key');
    expect(accepted).toBeGreaterThan(500);
  });
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

  /** Values by path, dots between the keys; undefined deletes. */
  type Changes = Record<string, unknown>;
  const diff = (changes: Changes, base = 'HEAD') => {
    const document = parseDocument(committed);
    for (const [path, value] of Object.entries(changes)) {
      if (value === undefined) document.deleteIn(path.split('.'));
      else document.setIn(path.split('.'), value);
    }
    writeFileSync(file, document.toString());
    return run('scripts/openapi-diff.ts', '--base', base, '--document', file);
  };
  const SCHEMAS = 'components.schemas';
  const MODEL = `${SCHEMAS}.Inquiry`;
  const REQUEST = `${SCHEMAS}.CreateInquiryRequest`;
  const GET = 'paths./inquiries.get';
  const POST = 'paths./inquiries.post';
  const TEXT = { type: 'string' };
  const KEY = { type: 'apiKey', in: 'header', name: 'key' };

  it.each<[string, Changes]>([
    ['property-removed', { [`${MODEL}.properties.email`]: undefined, [`${MODEL}.required.2`]: undefined }],
    ['required-properties-removed', { [`${MODEL}.required.2`]: undefined }],
    ['required-properties-added', { [`${REQUEST}.properties.p`]: TEXT, [`${REQUEST}.required.2`]: 'p' }],
    ['response-removed', { [`${POST}.responses.201`]: undefined }],
    ['operation-removed', { [POST]: undefined }],
    ['schema-type-changed', { [`${SCHEMAS}.InquiryListResponse.properties.count.type`]: 'string' }],
    ['schema-constraint-changed', { [`${GET}.parameters.0.schema.maximum`]: 100 }],
    ['response-header-removed', { [`${GET}.responses.200.headers.Link`]: undefined }],
    ['parameter-became-required', { [`${GET}.parameters.1.required`]: true }],
    ['security-requirement-changed', { 'components.securitySchemes.key': KEY, 'security.0.key': [] }],
  ])('exits 1 for a change that breaks clients, and names the rule %s', (rule, changes) => {
    const { status, stdout, stderr } = diff(changes);
    expect(stdout + stderr).toContain(rule);
    expect(status).toBe(1);
  });

  it.each<[string, Changes]>([
    ['nothing changed', {}],
    ['a sentence changed', { 'info.description': 'x' }],
    ['a field of a response was added', { [`${MODEL}.properties.extra`]: TEXT }],
    ['an optional field of a request was added', { [`${REQUEST}.properties.phone`]: TEXT }],
    ['a limit was raised', { [`${GET}.parameters.0.schema.maximum`]: 2000 }],
  ])('exits 0 when %s', (_, changes) => {
    expect(diff(changes).status).toBe(0);
  });

  it('exits 0 for a revision that has no document', () => {
    expect(diff({}, 'before')).toEqual({
      status: 0,
      stdout: 'before has no openapi.yaml: nothing to compare with.\n',
      stderr: '',
    });
  });

  it.each([
    [[], '--base is missing (see --help)\n'],
    [['--base', 'nowhere', '--document', file], 'nowhere is not a revision of this repository.\n'],
    [['--base', 'HEAD', '--document', 'none.yaml'], 'There is no file none.yaml.\n'],
  ])('refuses %j in one line with exit code 2', (args, stderr) => {
    expect(run('scripts/openapi-diff.ts', ...args)).toEqual({ status: 2, stdout: '', stderr });
  });
});
