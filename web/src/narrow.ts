/** Narrows what was received or stored. */

export const isText = (value: unknown): value is string => typeof value === 'string';

/** The properties of an object; none of anything else. */
export const toRecord = (value: unknown): Partial<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** Undefined when the text is not JSON, such as a proxy's error page. */
export function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
