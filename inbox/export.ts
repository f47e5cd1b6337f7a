import { randomUUID } from 'node:crypto';
import { createWriteStream, lstatSync, renameSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { parseOptions, UsageError, type Io } from '../lib/command-line.ts';
import { parseSince, parseUuid } from './arguments.ts';
import type { Connect } from './connect.ts';
import { FIELDS, type StoredInquiry } from './store.ts';
import { countInquiries, showProgress, toJsonLine } from './output.ts';
import { escapeUnsafe, escapeLines } from '../lib/terminal-text.ts';

const USAGE = `
Usage: npm run inbox -- [--stage STAGE] export [options]

Writes inquiries with their texts and answers, in no order. It reads the whole
table, so that no inquiry is missing that is answered at the same time.

  --json        one JSON object a line, exactly as stored (the default)
  --csv         for spreadsheets: RFC 4180, UTF-8 with a byte order mark.
                Control and invisible characters are written as escapes, and
                what a spreadsheet could take for a formula gets an apostrophe
  --email E     of this email only, as it is written in the inquiry
  --sub UUID    of this user only, whatever the email
  --since WHEN  not older than an age (12h, 7d), a date (2026-11-01, local time)
                or a date-time
  --out FILE    into a file that only its owner can read; it appears when it is
                complete
`;

const OPTIONS = {
  csv: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  email: { type: 'string' },
  sub: { type: 'string' },
  since: { type: 'string' },
  out: { type: 'string' },
} as const;

export async function exportInquiries(connect: Connect, args: string[], io: Io): Promise<void> {
  const { csv, json, email, sub, since, out } = parseOptions(USAGE, OPTIONS, args);
  if (csv && json) throw new UsageError('--json and --csv exclude each other.');
  const filter = {
    email,
    sub: sub === undefined ? undefined : parseUuid(sub, '--sub'),
    since: since === undefined ? undefined : parseSince(since),
  };
  if (out !== undefined) checkTarget(out);
  const inquiries = connect().inbox.scan(filter);
  const pages =
    out === undefined && io.stdout.isTTY === true ? inquiries : showProgress(io, inquiries);
  let count = 0;
  const rows = async function* () {
    for await (const page of pages) {
      yield* page;
      count += page.length;
    }
  };
  const write = (target: Writable): Promise<void> => {
    const end = target !== io.stdout;
    return csv
      ? pipeline(Readable.from(rows()), createCsv(), target, { end })
      : pipeline(toLines(rows()), target, { end });
  };
  if (out === undefined) {
    await write(io.stdout);
  } else {
    await writeFile(out, write);
    io.stderr.write(`${countInquiries(count)} in ${escapeUnsafe(out)}\n`);
  }
}

async function* toLines(rows: AsyncIterable<StoredInquiry>): AsyncGenerator<string> {
  for await (const row of rows) yield toJsonLine(row, FIELDS);
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

/** Makes a text safe for spreadsheets and terminals; see USAGE. */
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
