import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../scripts/infra/terraform.ts';
import { readText } from '../helpers/repository.ts';

const threatModel = readText('docs/threat-model.md');
const filePattern = /(?:tests|docs|infra)\/[\w./-]+\.(?:ts|md|hcl)/g;

it('docs/threat-model.md names files that exist', () => {
  const files = [...new Set(threatModel.match(filePattern))];
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it('docs/threat-model.md names a test or a document for each threat and each requirement, or says that it is open', () => {
  const rows = threatModel.match(/^\| (T\d|\d|API).*$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.match(filePattern) === null && !row.includes('| open: '))).toEqual([]);
});
