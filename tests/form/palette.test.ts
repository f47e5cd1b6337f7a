import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contrast, toAccents } from '../../web/src/palette.ts';

describe('the accent colours', () => {
  it('have the contrast that WCAG defines', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });

  it('stay as they are where text in them can be read', () => {
    expect(toAccents('#3f4fd0').light).toBe('#3f4fd0');
    expect(toAccents('#A3B0FF').dark).toBe('#a3b0ff');
  });

  it('of any colour can be read on the pages of both themes, and carry the text of buttons', () => {
    const hex = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(hex, (accent) => {
        const { light, dark } = toAccents(accent);
        expect(contrast(light, '#f3f4f8')).toBeGreaterThanOrEqual(4.5);
        expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5);
        expect(contrast(dark, '#1c1f29')).toBeGreaterThanOrEqual(4.5);
        expect(contrast(dark, '#141726')).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });
});
