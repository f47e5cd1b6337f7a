/** The chart of a run: how long until the first answers, and how lists grow. */
import { listNames } from './measure.ts';
import type { Results, Row } from './report.ts';

const WIDTH = 960;
const LEFT = 230;
const RIGHT = 40;
const BAR = 24;
const STEP = 40;
const TOP = 96;

const PARTS = [
  { name: 'initialisation', colour: '#9db4c8' },
  { name: 'first POST', colour: '#2f6f9f' },
  { name: 'first GET', colour: '#e0912f' },
] as const;

/** One colour each, told apart with a colour-blind eye as well (Okabe and Ito). */
const COLOURS = ['#0072b2', '#999999', '#cc79a7', '#e69f00', '#d55e00', '#009e73', '#56b4e9'];

/** Draws both parts as one SVG on white, so that it can be read on a dark page too. */
export function drawChart({ rows, fullest }: Results): string {
  const lists = TOP + rows.length * STEP + 120;
  const height = lists + 380;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="14" fill="#222">
<title>Time to the first answers, and CPU time of lists by length</title>
<rect width="100%" height="100%" fill="#fff"/>
${drawBars(rows)}
${drawLines(rows, fullest, lists)}
</svg>
`;
}

const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${content.replaceAll('&', '&amp;')}</text>`;

const line = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="#ddd"/>`;

const MIDDLE = 'text-anchor="middle" fill="#666" font-size="12"';
const END = 'text-anchor="end"';

function drawBars(rows: readonly Row[]): string {
  const largest = Math.max(...rows.map(({ sum }) => sum));
  const step = largest > 1_200 ? 400 : largest > 600 ? 200 : 100;
  const scale = (WIDTH - LEFT - RIGHT - 60) / largest;
  const bottom = TOP + rows.length * STEP;
  const marks = Array.from({ length: Math.floor(largest / step) + 1 }, (_, index) => {
    const x = LEFT + index * step * scale;
    return line(x, TOP - 10, x, bottom) + text(x, bottom + 16, String(index * step), MIDDLE);
  });
  const legend = PARTS.map(({ name, colour }, index) => {
    const x = LEFT + index * 130;
    return `<rect x="${x}" y="56" width="14" height="14" fill="${colour}"/>${text(x + 20, 68, name)}`;
  });
  const bars = rows.map((row, index) => {
    const y = TOP + index * STEP;
    let x = LEFT;
    const parts = [row.initialisation, row.firstPost, row.firstGet].map(({ wall }, part) => {
      const width = wall * scale;
      const bar = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${PARTS[part]?.colour}"/>`;
      x += width;
      return bar;
    });
    const weight = row.name === 'ours' ? 'font-weight="bold"' : '';
    return (
      text(LEFT - 12, y + 17, row.title, `${END} ${weight}`) +
      parts.join('') +
      text(x + 8, y + 17, `${row.sum.toFixed(0)} ms`, weight)
    );
  });
  return [
    text(20, 32, 'From nothing to the first answers, in milliseconds', 'font-size="18" font-weight="bold"'),
    ...legend,
    ...marks,
    ...bars,
  ].join('\n');
}

function drawLines(rows: readonly Row[], fullest: number, top: number): string {
  const counts = { hundred: 100, thousand: 1_000, fullest };
  const series = rows.flatMap((row, index) => {
    const points = listNames.flatMap((name) => {
      const cost = row.lists[name];
      return typeof cost === 'object' ? [{ count: counts[name], cpu: cost.cpu }] : [];
    });
    return points.length === 0 ? [] : [{ row, points, colour: COLOURS[index % COLOURS.length] ?? '#000' }];
  });
  if (series.length === 0) return '';

  const all = series.flatMap(({ points }) => points.map(({ cpu }) => cpu));
  const [low, high] = [Math.min(...all) * 0.8, Math.max(...all) * 1.2];
  const [left, right, upper, lower] = [80, WIDTH - LEFT - 30, top + 30, top + 320];
  const x = (count: number): number =>
    left + (Math.log(count / 100) / Math.log(fullest / 100)) * (right - left);
  const y = (cpu: number): number => lower - (Math.log(cpu / low) / Math.log(high / low)) * (lower - upper);

  const horizontal = [2, 5, 10, 20, 50, 100, 200, 500, 1_000]
    .filter((value) => value > low && value < high)
    .map(
      (value) =>
        line(left, y(value), right, y(value)) +
        text(left - 10, y(value) + 4, String(value), `${END} fill="#666" font-size="12"`),
    );
  const vertical = Object.values(counts).map(
    (count) =>
      line(x(count), upper, x(count), lower) + text(x(count), lower + 20, count.toLocaleString('en'), MIDDLE),
  );
  const lines = series.map(
    ({ row, points, colour }) =>
      `<polyline fill="none" stroke="${colour}" stroke-width="${row.name === 'ours' ? 4 : 2}" points="${points
        .map(({ count, cpu }) => `${x(count).toFixed(1)},${y(cpu).toFixed(1)}`)
        .join(' ')}"/>` +
      points
        .map(
          ({ count, cpu }) =>
            `<circle cx="${x(count).toFixed(1)}" cy="${y(cpu).toFixed(1)}" r="4" fill="${colour}"/>`,
        )
        .join(''),
  );
  // Names from the top down in the order of the last points; none closer than a line.
  let last = upper - 20;
  const names = series
    .map(({ row, points, colour }) => ({ row, colour, end: points.at(-1) }))
    .toSorted((one, other) => (other.end?.cpu ?? 0) - (one.end?.cpu ?? 0))
    .map(({ row, colour, end }) => {
      last = Math.max(last + 18, y(end?.cpu ?? low) + 4);
      const partial = end?.count === fullest ? '' : ' (no fullest)';
      return text(
        right + 14,
        last,
        `${row.title}${partial}`,
        `fill="${colour}" ${row.name === 'ours' ? 'font-weight="bold"' : ''} font-size="13"`,
      );
    });
  return [
    text(
      20,
      top - 10,
      'GET by the number of inquiries, in milliseconds of CPU (both axes logarithmic)',
      'font-size="18" font-weight="bold"',
    ),
    ...horizontal,
    ...vertical,
    ...lines,
    ...names,
  ].join('\n');
}
