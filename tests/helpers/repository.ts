import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import type { Environment } from '../../src/config.ts';

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** A document's code blocks that begin with a file's name, by name. */
export const readCodeBlocks = (document: string): Map<string, string> =>
  new Map(
    Array.from(
      readText(document).matchAll(/^```\w+\n(?:<!--|\/\/) (\S+\.\w+)(?: -->)?\n(.*?)^```/gms),
      ([, name = '', text = '']) => [name, text],
    ),
  );

/** The imports of docs/runbook.md for a module: ids with placeholders, by address. */
export function readImports(module: 'stages' | 'bootstrap'): Map<string, string> {
  const runbook = readText('docs/runbook.md');
  const lines =
    module === 'stages'
      ? (/imports\.tf <<'END'\n([^]*?)^END$/m.exec(runbook)?.[1] ?? '')
      : (runbook.match(/^terraform import .*$/gm) ?? []).join('\n');
  const entries = lines.matchAll(/^(?:terraform import )?'?([\w.[\]"@-]+)'? +(\S+)/gm);
  return new Map([...entries].map(([, address = '', id = '']) => [address, id]));
}

/** Expects that Terraform and docs/configuration.md name what a function reads of its environment. */
export function expectInTerraformAndDocs(
  parse: (env: Environment) => unknown,
  env: Environment,
  files: string[],
): void {
  const names = new Set<string>();
  const get = (target: Environment, name: string) => {
    names.add(name);
    return target[name];
  };
  parse(new Proxy(env, { get }));
  const read = [...names].filter((name) => !name.startsWith('AWS_'));
  const set = files.flatMap((file) =>
    Array.from(
      readText(`infra/terraform/${file}.tf`).matchAll(/^ {4,}([A-Z_]+) += /gm),
      ([, name = '']) => name,
    ),
  );
  expect(new Set(set)).toEqual(new Set(read));
  const documented = readText('docs/configuration.md');
  expect(read.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
}
