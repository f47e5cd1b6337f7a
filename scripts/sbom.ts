/**
 * Prints the software bill of materials of the function: CycloneDX JSON from `npm sbom`, without the packages that only
 * development uses. `npm sbom --omit dev` would also leave out packages that the function shares with a development
 * dependency (https://github.com/npm/cli/issues/7909).
 *
 * Usage: npm run --silent sbom > FILE. Exit codes: 0 printed, 1 failed, 2 bad use.
 */
import { execFileSync } from 'node:child_process';
import { parseOptions, runCommand, type Main } from '../lib/command-line.ts';
import { ROOT } from '../lib/paths.ts';

interface BillOfMaterials {
  metadata: { component: { readonly 'bom-ref': string } };
  components: {
    readonly 'bom-ref': string;
    properties: { name: string }[];
  }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

export const main: Main = async (args, { stdout }) => {
  parseOptions('Usage: npm run --silent sbom > FILE', {}, args);
  const command = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
  ];
  const bill = JSON.parse(
    execFileSync('npm', command, { cwd: ROOT, encoding: 'utf8' }),
  ) as BillOfMaterials;
  const components = bill.components.filter(
    ({ properties }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const kept = new Set(
    [bill.metadata.component, ...components].map((component) => component['bom-ref']),
  );
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((other) => kept.has(other)),
    }));
  stdout.write(`${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`);
};

if (import.meta.main) await runCommand(main);
