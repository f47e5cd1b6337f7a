/** The accent colours of both themes, made from one colour so that text in them can be read. */

/** Lower contrast than this is corrected: 4.5 (WCAG 2.2, 1.4.3) on the tinted backgrounds, too. */
const CONTRAST = 5.5;
/** The backgrounds of style.css that have the lowest contrast to the accent, and the colour it is mixed with. */
const LIGHT = { background: '#f3f4f8', pole: '#000000' };
const DARK = { background: '#1c1f29', pole: '#ffffff' };

/** @param accent - `#rrggbb`. @returns The colour, or the nearest darker (light theme) or lighter one (dark theme). */
export const toAccents = (accent: string): { readonly light: string; readonly dark: string } => ({
  light: correct(accent, LIGHT),
  dark: correct(accent, DARK),
});

function correct(accent: string, { background, pole }: typeof LIGHT): string {
  let share = 0;
  let color = accent.toLowerCase();
  while (contrast(color, background) < CONTRAST && share < 100) color = mix(accent, pole, (share += 2) / 100);
  return color;
}

/** The contrast of two colours, 1 to 21: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = toChannels(color).map((value) =>
    value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: string, pole: string, share: number): string {
  const poles = toChannels(pole);
  const channels = toChannels(color).map((value, index) =>
    Math.round(value + ((poles[index] ?? 0) - value) * share),
  );
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

const toChannels = (color: string): number[] =>
  [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
