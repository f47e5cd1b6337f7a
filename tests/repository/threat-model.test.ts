import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const document = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
const rows = document
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (---|#|Item|Asset)/.test(line));
const pathOf = /(?:tests|docs|infra)\/[\w./-]+\.(?:ts|md|hcl)/g;

describe('docs/threat-model.md', () => {
  it('names files that exist', () => {
    const named = [...new Set(document.match(pathOf))];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names, for each threat and each item, what holds it, or says that it is open', () => {
    const held = rows.filter((row) => /^\| (T\d|\d|API)/.test(row));
    expect(held.length).toBeGreaterThan(60);
    expect(held.filter((row) => row.match(pathOf) === null && !row.includes('| open: '))).toEqual([]);
  });
});
