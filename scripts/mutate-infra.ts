/**
 * Breaks infra/terraform in one place at a time and runs the tests of the module: a mutation that they do not notice is a rule
 * without a test. docs/mutation.md
 *
 * Usage: npm run mutate:infra [-- --only TEXT]. Exit codes: 0 at least 24 of 26 are noticed and the others explained, 1 not, or
 * a mutation does not fit the module, 2 bad use.
 */
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseOptions, readIfThere, runCommand, UsageError } from './cli.ts';
import { MUTATIONS } from './infra/mutations.ts';
import type { Mutation } from './infra/mutations.ts';
import {
  providerSource,
  ROOT,
  run,
  TERRAFORM,
  terraformEnv,
  terraformUnavailableReason,
  testFilesOf,
} from './infra/terraform.ts';
import type { Stage } from './infra/terraform.ts';

const USAGE = `
Usage: npm run mutate:infra -- [--only TEXT]

  --only TEXT   only the mutations whose name or file contains the text

Needs terraform and the AWS provider as npm run check:infra does.
`;

/** The share of mutations that must be noticed. */
const TARGET = 24 / 26;
const MODULE_PATH = 'infra/terraform';
/** The tests in infra/terraform/tests that know most of a file; by default those of every stage. */
const TESTS_OF = new Map([
  ['observability.tf', 'observability'],
  ['mailer.tf', 'inbox'],
  ['operators.tf', 'inbox'],
  ['identity.tf', 'site'],
  ['site.tf', 'site'],
  ['domains.tf', 'site'],
  ['guard.tf', 'site'],
]);

/** A line of `terraform test -json`. */
interface Diagnostic {
  readonly severity: string;
  readonly detail: string;
  readonly range?: { readonly filename: string };
}

/** Copies what git would commit of this checkout, without the pictures, and prepares Terraform in it. */
async function copyInto(folder: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of stdout.split('\0').filter((name) => name !== '' && !name.endsWith('.png'))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(folder, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const init = ['init', '-no-color', '-backend=false', ...providerSource()];
  const { code, output } = await run(TERRAFORM, init, {
    cwd: join(folder, MODULE_PATH),
    env: terraformEnv(),
  });
  if (code !== 0) throw new Error(output.trim());
}

/** @returns The title of the first test that fails, of those that read the source of the module; undefined: none. */
async function runSourceTests(folder: string, file: string): Promise<string | undefined> {
  const tests = globSync('tests/repository/infra*.test.ts', { cwd: folder });
  // The tests of the settings run Terraform a hundred times, and read these two files only.
  const filter = ['variables.tf', 'stages.tf'].includes(file) ? [] : ['-t', '^(?!settings of a stage)'];
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const report = join(folder, 'report.json');
  const args = [vitest, 'run', '--project', 'repository', '--reporter', 'json', '--outputFile', report];
  const { code, output } = await run(process.execPath, [...args, ...filter, ...tests], { cwd: folder });
  if (code === 0) return undefined;
  const { testResults } = JSON.parse(readIfThere(report) ?? '{"testResults":[]}') as {
    testResults: { name: string; assertionResults: { status: string; title: string }[] }[];
  };
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed !== undefined) return `${basename(name)}: ${failed.title}`;
  }
  throw new Error(output.trim());
}

/**
 * @param file - The file with the mutation: the tests that know most of it run first.
 * @returns The message of the first assertion that fails, of the tests of a stage with a mocked provider; undefined: none.
 * @throws Error for any other failure: the mutation is not one that Terraform would apply.
 */
async function runTerraformTests(folder: string, stage: Stage, file: string): Promise<string | undefined> {
  const subject = stage === 'develop' ? (TESTS_OF.get(file) ?? 'every_stage') : stage;
  const tests = testFilesOf(stage).map((path) => ({ path, name: basename(path, '.tftest.hcl') }));
  for (const { path, name } of tests.toSorted(
    (a, b) => Number(b.name === subject) - Number(a.name === subject),
  )) {
    // One after the other, because most mutations need the first one only.
    // oxlint-disable-next-line no-await-in-loop
    const { code, stdout, output } = await run(TERRAFORM, ['test', '-json', `-filter=${path}`], {
      cwd: join(folder, MODULE_PATH),
      env: terraformEnv({ TF_WORKSPACE: stage }),
    });
    if (code === 0) continue;
    const errors = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { '@message': string; diagnostic?: Diagnostic })
      .filter(({ diagnostic }) => diagnostic?.severity === 'error');
    // Of an assertion that is false, or that does not find what it looks at.
    const failed = errors.find(({ diagnostic }) => diagnostic?.range?.filename.startsWith('tests/'));
    if (failed === undefined) throw new Error(errors.map((error) => error['@message']).join('; ') || output);
    return `${name}: ${failed.diagnostic?.detail}`;
  }
  return undefined;
}

/** @returns What noticed the mutation; undefined: nothing. */
async function findKiller(
  folder: string,
  { file, from, to, stage = 'develop' }: Mutation,
): Promise<string | undefined> {
  const path = join(folder, MODULE_PATH, file);
  const text = readFileSync(path, 'utf8');
  const found = text.split(from).length - 1;
  if (found !== 1) throw new Error(`What it replaces is ${found} times in ${file}, which must be once.`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    return (await runSourceTests(folder, file)) ?? (await runTerraformTests(folder, stage, file));
  } finally {
    writeFileSync(path, text);
  }
}

await runCommand(async () => {
  const { only = '' } = parseOptions(USAGE, { only: { type: 'string' } });
  const reason = await terraformUnavailableReason();
  if (reason !== undefined) throw new Error(reason);
  const queue = MUTATIONS.filter(({ name, file }) => `${name} ${file}`.includes(only));
  const total = queue.length;
  if (total === 0) throw new UsageError(`No mutation's name or file contains "${only}".`);

  const problems: string[] = [];
  let killed = 0;
  const work = async (folder: string) => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      const { name, file, survives } = mutation;
      try {
        // One after the other in each folder.
        // oxlint-disable-next-line no-await-in-loop
        const killer = await findKiller(folder, mutation);
        if (killer !== undefined) killed += 1;
        if (killer !== undefined && survives !== undefined)
          problems.push(`${name}: noticed, but explained as a survivor`);
        if (killer === undefined && survives === undefined)
          problems.push(`${name}: survived without an explanation`);
        const verdict =
          killer === undefined
            ? `SURVIVED: ${survives ?? 'unexplained'}`
            : killer.replaceAll('|', String.raw`\|`);
        process.stdout.write(`| ${file} | ${name} | ${verdict} |\n`);
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };

  // Two at a time, each in a copy of its own. `npm run check:infra` runs the tests of the other stages without a mutation.
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'mutate-infra-')));
  const [first = '', second = ''] = folders;
  try {
    await Promise.all(folders.map(copyInto));
    const red = await Promise.all([
      runSourceTests(first, 'variables.tf'),
      runTerraformTests(second, 'develop', ''),
    ]);
    const failed = red.find((title) => title !== undefined);
    if (failed !== undefined) throw new Error(`The tests fail without a mutation: ${failed}`);
    process.stdout.write('| file | mutation | noticed by |\n| --- | --- | --- |\n');
    await Promise.all(folders.map(work));
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`\nmutate:infra: ${killed} of ${total} noticed\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0 || killed / total < TARGET) process.exitCode = 1;
});
