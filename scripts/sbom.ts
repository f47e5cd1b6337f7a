/**
 * Prints the software bill of materials of the function: CycloneDX JSON from `npm sbom`, without the packages that only
 * development uses. `npm sbom --omit dev` would also leave out packages that the function shares with a development
 * dependency (https://github.com/npm/cli/issues/7909).
 *
 * Usage: npm run --silent sbom > FILE. Exit codes: 0 printed, 1 failed, 2 bad use.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseOptions, runCommand } from '../lib/command-line.ts';

interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: { readonly 'bom-ref': string; readonly properties: { readonly name: string }[] }[];
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

await runCommand(async () => {
  parseOptions('Usage: npm run --silent sbom > FILE', {});
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const cwd = join(import.meta.dirname, '..');
  const bill = JSON.parse(execFileSync('npm', args, { cwd, encoding: 'utf8' })) as BillOfMaterials;
  const components = bill.components.filter(
    ({ properties }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const kept = new Set([bill.metadata.component, ...components].map((component) => component['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  process.stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`);
});
