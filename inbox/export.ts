import { randomUUID } from 'node:crypto';
import { createWriteStream, lstatSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { UsageError } from '../lib/command-line.ts';
import type { Command } from './options.ts';
import { FIELDS } from './store.ts';
import { countInquiries, showProgress, writeLines } from './output.ts';
import { escapeUnsafe, escapeLines } from '../lib/terminal-text.ts';

export async function exportInquiries({ values, filter, io, connect }: Command): Promise<void> {
  const { csv, json, out } = values;
  if (csv && json) throw new UsageError('--json and --csv exclude each other.');
  if (out !== undefined) checkTarget(out);
  const found = connect().inbox.scan(filter);
  const pages = out === undefined && io.stdout.isTTY === true ? found : showProgress(io, found);
  let count = 0;
  const counted = async function* () {
    for await (const page of pages) {
      yield page;
      count += page.length;
    }
  };
  const write = async (target: Writable): Promise<void> => {
    const options = { end: target !== io.stdout };
    if (csv !== true) return writeLines(counted(), FIELDS, target, options);
    return pipeline(
      Readable.from(counted()).flatMap((page) => page),
      createCsv(),
      target,
      options,
    );
  };
  if (out === undefined) return write(io.stdout);
  await writeFile(out, write);
  io.stderr.write(`${countInquiries(count)} in ${escapeUnsafe(out)}\n`);
}

/** A device or a pipe must not be replaced by a file. */
function checkTarget(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    throw new UsageError(`--out ${escapeUnsafe(file)} is not a regular file.`);
  }
}

/** Writes a file next to the target and renames it when it is complete. */
async function writeFile(
  target: string,
  write: (stream: Writable) => Promise<void>,
): Promise<void> {
  const file = resolve(target);
  const part = `${file}.${randomUUID()}.part`;
  const discard = (): void => rmSync(part, { force: true });
  const onSignal = (signal: NodeJS.Signals): void => {
    discard();
    process.exit(128 + constants.signals[signal]);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    await write(createWriteStream(part, { flags: 'wx', mode: 0o600 }));
    renameSync(part, file);
  } catch (error) {
    discard();
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || '$metadata' in (error as object)) throw error;
    throw new Error(`${escapeUnsafe(target)} cannot be written (${code}).`, { cause: error });
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/**
 * What a spreadsheet may take for the beginning of a formula, full-width forms included: at the start of a field and,
 * for a spreadsheet that expects another separator than the comma, after what starts a cell or a row there. Options of
 * csv-stringify see the start of a field only. https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /(^|[\n;|])(?=(?:[^\S\n]|")*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** Makes a text safe for spreadsheets and terminals; see --csv. */
export const toCsvText = (text: string): string =>
  escapeLines(text).join('\n').replaceAll(FORMULA, "$1'");

const createCsv = () =>
  stringify({
    columns: [...FIELDS],
    header: true,
    bom: true,
    record_delimiter: 'windows',
    quoted_string: true,
    cast: { string: toCsvText },
  });
