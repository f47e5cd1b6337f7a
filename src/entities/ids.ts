/** No id is higher. */
export const LAST_ID = 'g';

/** The smallest id prefix at a time in milliseconds since the epoch (RFC 9562, 5.7). */
export function toFirstId(milliseconds: number): string {
  const hex = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
