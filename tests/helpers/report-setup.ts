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
    if (existsSync(file)) process.stdout.write(toTable(readTallies(file)));
    rmSync(folder, { recursive: true, force: true });
  };
}

function readTallies(file: string): Counted[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Counted)
    .toSorted((a, b) => a.what.localeCompare(b.what, 'en', { numeric: true }));
}

function toTable(rows: readonly Counted[]): string {
  const width = Math.max(...rows.map(({ what }) => what.length));
  const line = (what: string, ...cells: (string | number)[]): string =>
    `  ${what.padEnd(width)}${cells.map((cell) => String(cell).padStart(13)).join('')}\n`;
  const sum = (field: 'cases' | 'exceptions'): number => rows.reduce((total, row) => total + row[field], 0);
  return `\n${line('hard', 'cases', 'exceptions', 'slowest, ms')}${rows
    .map(({ what, cases, exceptions, slowest = '' }) =>
      line(what, cases, exceptions, typeof slowest === 'number' ? Math.round(slowest) : slowest),
    )
    .join('')}${line('all', sum('cases'), sum('exceptions'))}`;
}
