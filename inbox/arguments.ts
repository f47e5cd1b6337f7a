import { UUID } from 'uuidv7';
import { UsageError } from '../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../lib/terminal/terminal-text.ts';
import type { StoredInquiries, StoredInquiry } from '../src/entities/stored-inquiries.ts';

const UNITS: Record<string, number> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const quote = (text: string): string => `"${escapeUnsafe(text).slice(0, 80)}"`;

/**
 * `7d`, `12h` (ago), `2026-11-01` (local midnight) or a date-time.
 *
 * @returns Milliseconds. @throws UsageError
 */
export function parseTime(text: string, option: string, now = Date.now()): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0);
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  // Date takes a date alone as UTC, a date with a time as local, and 30 February as 2 March.
  const time = isDate ? Date.parse(text.includes('T') ? text : `${text}T00:00`) : Number.NaN;
  const day = new Date(`${text.slice(0, 10)}T00:00Z`).getUTCDate();
  if (!Number.isNaN(time) && day === Number(text.slice(8, 10))) return time;
  throw new UsageError(
    `${option} must be an age (12h, 7d), a date (2026-11-01) or a date-time, not ${quote(text)}.`,
  );
}

/** @returns The canonical form. @throws UsageError */
export function parseUuid(text: string, name: string, kind = 'a UUID'): string {
  try {
    return UUID.parse(text.trim()).toString();
  } catch (error) {
    throw new UsageError(`${name} must be ${kind}, not ${quote(text)}.`, { cause: error });
  }
}

const REFERENCE = /^([\da-f]{8})-?([\da-f]{4})$/;

/**
 * @param takes - `ID`: one inquiry; absent: nothing.
 * @returns An id or reference. @throws UsageError
 */
export function parseId([text, ...others]: string[], verb: string, takes?: 'ID'): string {
  if (takes === undefined) {
    if (text === undefined) return '';
    throw new UsageError(`${verb} takes options only (see --help)`);
  }
  if (text === undefined || others.length > 0) {
    const usage = `npm run inbox -- ${verb} ID (list prints the references)`;
    throw new UsageError(`${verb} takes the id or reference of one inquiry: ${usage}`);
  }
  const [, first, second] = REFERENCE.exec(text.trim().toLowerCase()) ?? [];
  return first === undefined ? parseUuid(text, 'ID', 'an id or a reference') : `${first}-${second}`;
}

/** @throws Error unless exactly one is found, and has not expired. */
export async function findInquiry(
  inquiries: StoredInquiries,
  named: string,
): Promise<StoredInquiry> {
  const ids = REFERENCE.test(named) ? await inquiries.findIds(named) : [named];
  if (ids.length > 1) {
    throw new Error(`More than one inquiry has the reference ${named}: ${ids.join(', ')}.`);
  }
  const [id] = ids;
  const inquiry = id === undefined ? undefined : await inquiries.get(id);
  if (inquiry === undefined) throw new Error(`There is no inquiry ${named}.`);
  return inquiry;
}
