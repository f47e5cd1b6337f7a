/** Narrows what was received or stored. */

export const isText = (value: unknown): value is string => typeof value === 'string';

/** No properties unless it is an object. */
export const toRecord = (value: unknown): Partial<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** Undefined unless the text is JSON. */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
