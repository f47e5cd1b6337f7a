/** The size of an inquiry, counted as the service counts it: bytes of UTF-8. */
import { ITEM_LIMIT } from '../../src/limits.ts';
import { textsOf, type Texts } from './fields.ts';

/** Size at which the form starts to warn. An item also holds names and keys, so the service may reject a smaller text. */
const NEAR = ITEM_LIMIT * 0.8;

export interface Size {
  readonly bytes: number;
  readonly level: 'fine' | 'near' | 'over';
}

const encoder = new TextEncoder();

/** Measures all texts together. */
export function measure(texts: Texts): Size {
  const bytes = encoder.encode(textsOf(texts).join('')).length;
  const level = bytes > ITEM_LIMIT ? 'over' : bytes >= NEAR ? 'near' : 'fine';
  return { bytes, level };
}
