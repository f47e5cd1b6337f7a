/** Gathers the counts of the hard tests and prints them as one table at the end. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Counted } from './tally.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether the counts run in full. */
    hard: boolean;
    /** File that each tally appends one line of JSON to. */
    tallies: string;
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-hard-'));
  const file = join(folder, 'tallies.jsonl');
  project.provide('tallies', file);
  return () => {
    if (existsSync(file)) process.stdout.write(toTable(readFileSync(file, 'utf8').trim().split('\n')));
    rmSync(folder, { recursive: true, force: true });
  };
}

/** @param lines - JSON of {@link Counted}. */
function toTable(lines: readonly string[]): string {
  const rows = lines
    .map((line) => JSON.parse(line) as Counted)
    .toSorted((a, b) => a.what.localeCompare(b.what, 'en', { numeric: true }));
  const sum = (field: 'cases' | 'exceptions'): number => rows.reduce((total, row) => total + row[field], 0);
  const table = [
    ['hard', 'cases', 'exceptions', 'slowest, ms'],
    ...rows.map(({ what, cases, exceptions, slowest }) => [
      what,
      cases,
      exceptions,
      slowest?.toFixed() ?? '',
    ]),
    ['all', sum('cases'), sum('exceptions')],
  ];
  const width = Math.max(...rows.map(({ what }) => what.length));
  return table
    .map(
      ([what, ...cells]) =>
        `\n  ${String(what).padEnd(width)}${cells.map((cell) => String(cell).padStart(13)).join('')}`,
    )
    .join('')
    .concat('\n');
}
