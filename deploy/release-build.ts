/** Downloads the build of a release, which is deployed in place of one of this checkout. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { UsageError } from '../lib/terminal/command-line.ts';
import { ROOT } from '../lib/paths.ts';
import { runStep, type Session } from './steps.ts';

/** Files in which whoever deploys may differ from the release: settings, backends, workflows. */
const OWN = /\.(tfvars|tfvars\.json|tfbackend|terraform\.lock\.hcl)$|^\.github\//;
const BUILT = ['dist', 'web/dist'];

/**
 * Downloads the build, and verifies that the repository's workflow made it of the tag.
 *
 * @throws UsageError if the checkout, which deploys it, is of another version.
 */
export async function fetchBuild(session: Session, tag: string): Promise<void> {
  const run = (command: string, ...args: string[]) =>
    runStep(session, `${command} ${args[0]} ${args[1]}`, command, args);
  const differing = await run('git', 'diff', '--name-only', tag);
  const other = differing.split('\n').filter((name) => name !== '' && !OWN.test(name));
  if (other.length > 0) {
    throw new UsageError(
      `The checkout is not of ${tag}, which it is to deploy; they differ in ${other.join(', ')}.`,
    );
  }
  const zip = join(session.folder, 'build.zip');
  await run('gh', 'release', 'download', tag, '--pattern=build.zip', `--output=${zip}`);
  const repository = await run('gh', 'repo', 'view', '--json=nameWithOwner', '--jq=.nameWithOwner');
  const source = [`--repo=${repository.trim()}`, `--source-ref=refs/tags/${tag}`];
  await run('gh', 'attestation', 'verify', zip, ...source);
  for (const folder of BUILT) rmSync(join(ROOT, folder), { recursive: true, force: true });
  for (const [name, content] of Object.entries(unzipSync(readFileSync(zip)))) {
    const isBuilt = BUILT.some((folder) => name.startsWith(`${folder}/`)) && !name.includes('..');
    if (!isBuilt || name.endsWith('/')) continue;
    mkdirSync(dirname(join(ROOT, name)), { recursive: true });
    writeFileSync(join(ROOT, name), content);
  }
}
