import { randomUUID } from 'node:crypto';
import { createWriteStream, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import type { Command } from './options.ts';
import { readCopy, toPage } from './copy.ts';
import { countInquiries, showProgress, toJsonLine, writePages } from './output.ts';
import { FIELDS, type StoredInquiry } from '../src/entities/stored-inquiries.ts';

export async function run(command: Command): Promise<void> {
  const { values, filter, io, connect } = command;
  const { csv = false, html = false, json, out } = values;
  const isPersons = filter.sub !== undefined || filter.email !== undefined;
  if (csv && json) throw new UsageError('--json and --csv exclude each other.');
  if (html && (csv || json || !isPersons)) {
    throw new UsageError('--html is for the copy of a person, with --sub or --email.');
  }
  // A file must not replace a device or pipe.
  if (out !== undefined && lstatSync(out, { throwIfNoEntry: false })?.isFile() === false) {
    throw new UsageError(`--out ${escapeUnsafe(out)} is not a regular file.`);
  }
  if (isPersons) return exportCopy(command);
  const found = connect().inquiries.scan(filter);
  const pages = out === undefined && io.stdout.isTTY === true ? found : showProgress(io, found);
  let count = 0;
  let header = csv;
  const format = (page: StoredInquiry[]): string => {
    const text = csv
      ? stringify(page, { ...CSV, columns: [...FIELDS], header, bom: header })
      : page.map((row) => toJsonLine(row, FIELDS)).join('');
    header = false;
    count += page.length;
    return text;
  };
  if (out === undefined) return writePages(pages, format, io.stdout, { end: false });
  await writeFile(out, async (file) => writePages(pages, format, file, { end: true }));
  io.stderr.write(`${countInquiries(count)} in ${escapeUnsafe(out)}\n`);
}

async function exportCopy(command: Command): Promise<void> {
  const { values, io } = command;
  const wrong = (['csv', 'since'] as const).find((name) => values[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not for the copy of a person.`);
  const copy = await readCopy(command);
  const json = JSON.stringify(copy, null, 2).split('\n').map(escapeUnsafe).join('\n');
  const text = values.html === true ? toPage(copy) : `${json}\n`;
  if (values.out === undefined) return void io.stdout.write(text);
  await writeFile(values.out, async (file) => pipeline([text], file));
  io.stderr.write(`${countInquiries(copy.inquiries.length)} in ${escapeUnsafe(values.out)}\n`);
}

/** Writes beside the target, and renames when complete. */
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
    // Opened at once: a stream could create it after a failure has discarded it.
    await write(createWriteStream(part, { fd: openSync(part, 'wx', 0o600) }));
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
 * What may begin a formula, also full-width, at the start of a field or, with another separator, of a cell.
 * csv-stringify sees only the former. https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /(^|[\n;|])(?=(?:[^\S\n]|")*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;

export const toCsvText = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => escapeUnsafe(line.replaceAll('\t', '    ')))
    .join('\n')
    .replaceAll(FORMULA, "$1'");

const CSV = {
  record_delimiter: 'windows',
  quoted_string: true,
  cast: {
    string: toCsvText,
    // These are additions or names of files.
    object: (value: object) =>
      (value as (string | NonNullable<StoredInquiry['additions']>[number])[])
        .map((one) => toCsvText(typeof one === 'string' ? one : `${one.at}: ${one.text}`))
        .join('\n'),
  },
} as const;
