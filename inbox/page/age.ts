/** Units and their lengths in seconds. */
const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const format = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

/**
 * `3h ago`, `in 2d`, `now` within a minute; whole units, rounded towards now.
 *
 * @param time, now - Milliseconds since the epoch.
 */
export function formatAge(time: number, now = Date.now()): string {
  const seconds = (time - now) / 1_000;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit === undefined ? 'now' : format.format(Math.trunc(seconds / unit[1]), unit[0]);
}
