/**
 * Mutation testing of src/: breaks one thing at a time, in a copy of the project, and runs the tests until one goes
 * red. What stays green is printed: a test is missing there, or the change makes no difference (docs/mutation.md).
 * Textual, because TypeScript 7 has no compiler API for the usual tools to use.
 *
 * Usage: see below. Exit codes: 0 the score is reached, 1 it is not, 2 bad use.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseOptions, runCommand, UsageError } from './cli.ts';

const ROOT = join(import.meta.dirname, '..');
const USAGE = `
Usage: npm run mutate -- [options]

  --files GLOB    what to mutate (default: src/**/*.ts)
  --workers N     copies that work at a time (default: 2)
  --score N       per cent that must be killed (default: 90)
  --list          print the mutants and run nothing
`;

/** The tests in stages: the first that is red kills the mutant. Each ends at its first failure. */
const STAGES = [
  [
    '--project',
    'unit',
    'tests/unit/app.test.ts',
    'tests/unit/identity.test.ts',
    'tests/unit/inquiries.test.ts',
    'tests/unit/config.test.ts',
    'tests/unit/json.test.ts',
    'tests/unit/dynamodb-client.test.ts',
    'tests/unit/inquiry-store.test.ts',
    'tests/unit/inquiry.test.ts',
    'tests/unit/rehearsal.test.ts',
  ],
  ['--project', 'unit', 'tests/unit/openapi.test.ts', 'tests/unit/arrows.test.ts'],
  [
    '--project',
    'integration',
    'tests/integration/store.test.ts',
    'tests/integration/long-lists.test.ts',
    'tests/integration/function.test.ts',
  ],
  [
    '--project',
    'hard',
    'tests/hard/canaries.test.ts',
    'tests/hard/fuzz.test.ts',
    'tests/hard/faults.test.ts',
  ],
] as const;
/** The first stage whose tests wait for time limits: red, it is run once more, because a busy machine is late as well. */
const TIMED = 2;
/** The first stage whose tests run the built function. */
const BUILT = 3;
/** Milliseconds after which a run counts as red, since a mutant may never end; stages from TIMED on have three times that. */
const TIMEOUT = 60_000;
const LEFT_OUT = new Set(['node_modules', '.git', '.data', 'dist']);

/** A statement of its own on its line, which can be left out. */
const STATEMENT = /^\s+(?:if \(.*\) )?(?:throw |[\w.]+(?:\?\.)?\(|[\w.]+ (?:\|\||\+)?= ).*;$/;
/** Anchors of regular expressions. */
const ANCHOR = /(?<=\/)\^|\$(?=\/[a-z]*[.;,)])/g;

/** What has to be cleared away when this is ended. */
const folders = new Set<string>();
const children = new Set<ChildProcess>();

interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
  /** The whole file with the mutation in it. */
  readonly code: string;
}

await runCommand(async () => {
  const options = parseOptions(USAGE, {
    files: { type: 'string', default: 'src/**/*.ts' },
    workers: { type: 'string', default: '2' },
    score: { type: 'string', default: '90' },
    list: { type: 'boolean', default: false },
  });
  const [workers, wanted] = [Number(options.workers), Number(options.score)];
  if (!Number.isInteger(workers) || workers < 1)
    throw new UsageError('--workers must be a whole number from 1.');
  if (!(wanted >= 0 && wanted <= 100)) throw new UsageError('--score must be a number from 0 to 100.');
  const files = globSync(options.files, { cwd: ROOT }).toSorted();
  const mutants = files.flatMap((file) => mutate(file, readFileSync(join(ROOT, file), 'utf8')));
  if (mutants.length === 0) throw new UsageError(`Nothing to mutate in ${options.files}.`);
  if (options.list) {
    process.stdout.write(`${mutants.map(describe).join('\n')}\n${mutants.length} mutants\n`);
    return;
  }

  endOnSignals();
  const red = await inCopy(findRedStage);
  if (red !== undefined) throw new Error(`The tests of stage ${red + 1} are red without a mutation.`);

  const survivors: Mutant[] = [];
  const queue = mutants.entries();
  await Promise.all(
    Array.from({ length: workers }, () =>
      inCopy(async (folder) => {
        for (const [index, mutant] of queue) {
          const killer = await findKiller(folder, mutant);
          if (killer === undefined) survivors.push(mutant);
          const outcome = killer === undefined ? 'SURVIVED' : `killed by stage ${killer + 1}`;
          process.stdout.write(`${index + 1}/${mutants.length} ${outcome}: ${describe(mutant)}\n`);
        }
      }),
    ),
  );
  report(files, mutants, survivors);
  if (toScore(mutants.length, survivors.length) < wanted) throw new Error(`The score is under ${wanted} %.`);
});

// -- mutants --------------------------------------------------------------------------------------------------------

/** What is replaced by what, in code; strings and comments are masked while these are looked for. */
function operatorsOf(): [RegExp, (match: string) => string][] {
  return [
    [/ (===|!==) /g, swap({ '===': '!==', '!==': '===' })],
    [/ (<|>|<=|>=) /g, swap({ '<': '<=', '>': '>=', '<=': '<', '>=': '>' })],
    [/ (&&|\|\|) /g, swap({ '&&': '||', '||': '&&' })],
    [/ \?\? /g, () => ' && '],
    [/ (\+|-|\*|\/) /g, swap({ '+': '-', '-': '+', '*': '/', '/': '*' })],
    [/ (\+=|\|\|=|&&=|\?\?=) /g, swap({ '+=': '-=', '||=': '&&=', '&&=': '||=', '??=': '=' })],
    [/\?\./g, () => '.'],
    [/\b(true|false)\b/g, (match) => String(match === 'false')],
    [/(?<![\w.])\d[\d_]*(?![\w.])/g, (match) => String(Number(match.replaceAll('_', '')) + 1)],
    [/\bif \((?!!)/g, () => 'if (!'],
    [/\bawait /g, () => ''],
    [/\breturn (?=\S)/g, () => 'return void '],
    [/\.(at)\(-1\)/g, () => '.at(0)'],
    [/(?<=[\s(])!(?=[\w(])/g, () => ''],
  ];
}
function swap(pairs: Readonly<Record<string, string>>): (match: string) => string {
  return (match) => match.replace(match.trim(), pairs[match.trim()] ?? match.trim());
}

/** Every mutant of a file that is still TypeScript. */
function mutate(file: string, source: string): Mutant[] {
  // Types become blanks, so that what is found runs.
  const stripped = stripTypeScriptTypes(source);
  const { code, strings } = mask(stripped);
  const found: [at: number, length: number, to: string][] = [];
  for (const [pattern, replace] of operatorsOf()) {
    for (const match of code.matchAll(pattern)) found.push([match.index, match[0].length, replace(match[0])]);
  }
  for (const [at, length] of strings)
    if (!isImport(stripped, at)) found.push([at, length, length > 2 ? "''" : "'mutant'"]);
  for (const match of stripped.matchAll(ANCHOR))
    if (code[match.index] !== ' ') found.push([match.index, 1, '']);
  let at = 0;
  for (const line of code.split('\n')) {
    if (STATEMENT.test(line)) found.push([at, line.length, '']);
    at += line.length + 1;
  }
  return found
    .toSorted(([a], [b]) => a - b)
    .map(([start, length, to]) => ({
      file,
      line: stripped.slice(0, start).split('\n').length,
      from: stripped.slice(start, start + length).trim(),
      to: to.trim(),
      code: stripped.slice(0, start) + to + stripped.slice(start + length),
    }))
    .filter((mutant) => mutant.code !== stripped && isValid(mutant.code));
}

/** The code with the content of strings and comments blanked, and where the strings are. */
function mask(source: string): { code: string; strings: [at: number, length: number][] } {
  const strings: [number, number][] = [];
  // Comments, template strings (left alone: there is code in them), plain strings, regular expressions.
  const token =
    /\/\*[^]*?\*\/|\/\/.*|`(?:\\.|[^`])*`|'(?:\\.|[^'\\\n])*'|(?<=[(,=:?] )\/(?![/*])(?:\\.|[^/\\\n])+\/[a-z]*/g;
  const code = source.replaceAll(token, (match, at: number) => {
    if (match.startsWith("'")) strings.push([at, match.length]);
    if (match.startsWith('/') && !/^\/[/*]/.test(match)) return '/'.repeat(match.length);
    return match.replaceAll(/[^\n]/g, ' ');
  });
  return { code, strings };
}

function isImport(source: string, at: number): boolean {
  const line = source.slice(source.lastIndexOf('\n', at) + 1, at);
  return /^import |^} from |\bfrom $/.test(line);
}

function isValid(code: string): boolean {
  try {
    stripTypeScriptTypes(code);
    return true;
  } catch {
    return false;
  }
}

function describe({ file, line, from, to }: Mutant): string {
  return `${file}:${line}  ${JSON.stringify(from)} -> ${to === '' ? 'nothing' : JSON.stringify(to)}`;
}

// -- runs -----------------------------------------------------------------------------------------------------------

/** Works in a copy of the project, which is removed afterwards. */
async function inCopy<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'inquiries-mutate-'));
  folders.add(folder);
  try {
    cpSync(ROOT, folder, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  }
}

/** Ctrl-C and a kill end what runs and remove the copies. */
function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      for (const child of children) signalGroup(child, 'SIGKILL');
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      process.exit(130);
    });
  }
}

/** The first stage that goes red, or undefined. */
async function findKiller(folder: string, mutant: Mutant): Promise<number | undefined> {
  const path = join(folder, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, mutant.code);
  try {
    return await findRedStage(folder);
  } finally {
    writeFileSync(path, original);
  }
}

async function findRedStage(folder: string): Promise<number | undefined> {
  const run = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--reporter', 'dot'];
  for (const [stage, args] of STAGES.entries()) {
    if (stage === BUILT && !(await isGreen(folder, ['scripts/build.ts'], TIMEOUT))) return stage;
    const isGreenNow = (): Promise<boolean> =>
      isGreen(folder, [...run, ...args], stage < TIMED ? TIMEOUT : 3 * TIMEOUT);
    if (!(await isGreenNow()) && (stage < TIMED || !(await isGreenNow()))) return stage;
  }
  return undefined;
}

async function isGreen(folder: string, args: readonly string[], timeout: number): Promise<boolean> {
  // A group of its own: a worker that a mutant keeps in a loop ends with it.
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', detached: true });
  const timer = setTimeout(() => signalGroup(child, 'SIGTERM'), timeout);
  children.add(child);
  const [code] = (await once(child, 'exit')) as [number | null];
  signalGroup(child, 'SIGKILL');
  children.delete(child);
  clearTimeout(timer);
  return code === 0;
}

function signalGroup({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}

// -- report ---------------------------------------------------------------------------------------------------------

function toScore(all: number, survived: number): number {
  return ((all - survived) / all) * 100;
}

function toRow(name: string, all: number, survived: number): string {
  const cells = [all, all - survived, `${toScore(all, survived).toFixed(1)} %`];
  return `${name.padEnd(32)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`;
}

function report(files: readonly string[], mutants: readonly Mutant[], survivors: readonly Mutant[]): void {
  process.stdout.write(`\n${'file'.padEnd(32)} mutants   killed    score\n`);
  for (const file of files) {
    const of = (list: readonly Mutant[]): number => list.filter((mutant) => mutant.file === file).length;
    if (of(mutants) > 0) process.stdout.write(toRow(file, of(mutants), of(survivors)));
  }
  process.stdout.write(toRow('all', mutants.length, survivors.length));
  process.stdout.write(`\nSurvivors:\n${survivors.map(describe).toSorted().join('\n')}\n`);
}
