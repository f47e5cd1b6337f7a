import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../lib/paths.ts';

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** What docs/runbook.md imports into a module: ids with placeholders, by address. */
export function readImports(module: 'stages' | 'bootstrap'): Map<string, string> {
  const runbook = readText('docs/runbook.md');
  const lines =
    module === 'stages'
      ? (/imports\.tf <<'END'\n([^]*?)^END$/m.exec(runbook)?.[1] ?? '')
      : (runbook.match(/^terraform import .*$/gm) ?? []).join('\n');
  const entries = lines.matchAll(/^(?:terraform import )?'?([\w.[\]"@-]+)'? +(\S+)/gm);
  return new Map([...entries].map(([, address = '', id = '']) => [address, id]));
}
