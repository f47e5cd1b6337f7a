/**
 * Writes the typed client of the web page, web/src/api/client.ts, from the committed document docs/openapi.yaml.
 *
 * Exit codes: 0 written, or up to date; 1 out of date (--check) or failed; 2 bad use.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { format } from 'oxfmt';
import type { FormatConfig } from 'oxfmt';
import { parse } from 'yaml';
import { parseOptions, readIfThere, runCommand } from './cli.ts';
import { generateClient } from './openapi/client.ts';
import type { OpenApiDocument } from './openapi/document.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENT = join(ROOT, 'docs/openapi.yaml');
const CLIENT = join(ROOT, 'web/src/api/client.ts');
const USAGE = `
Usage: npm run openapi:client [-- --check]

Writes ${relative(ROOT, CLIENT)} from ${relative(ROOT, DOCUMENT)}.

  --check   write nothing; exit 1 when the file is not what would be written
`;

await runCommand(async () => {
  const { check } = parseOptions(USAGE, { check: { type: 'boolean', default: false } });
  const document = parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument;
  const settings = JSON.parse(readFileSync(join(ROOT, '.oxfmtrc.json'), 'utf8')) as FormatConfig;
  const { code, errors } = await format(CLIENT, generateClient(document), settings);
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  const name = relative('', CLIENT);
  if (check) {
    if (readIfThere(CLIENT) === code) return;
    throw new Error(`${name} is not what the document says; write it with npm run openapi:client.`);
  }
  mkdirSync(dirname(CLIENT), { recursive: true });
  writeFileSync(CLIENT, code);
  process.stdout.write(`${name}\n`);
});
