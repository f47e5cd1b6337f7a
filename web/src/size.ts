/** The size of an inquiry, counted as the service counts it: bytes of UTF-8. */
import { ITEM_LIMIT } from '../../src/limits.ts';

/** Size at which the form starts to warn. An item also holds names and keys, so the service may reject a smaller text. */
const NEAR = ITEM_LIMIT * 0.8;

export interface Size {
  readonly bytes: number;
  readonly level: 'fine' | 'near' | 'over';
}

const encoder = new TextEncoder();

/** Measures subject and message together. */
export function measure(subject: string, body: string): Size {
  const bytes = encoder.encode(subject).length + encoder.encode(body).length;
  const level = bytes > ITEM_LIMIT ? 'over' : bytes >= NEAR ? 'near' : 'fine';
  return { bytes, level };
}
