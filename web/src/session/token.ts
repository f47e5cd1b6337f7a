import type { User } from '../api.ts';
import { ConfigError } from '../config.ts';
import { isText, toRecord } from '../narrow.ts';

/** Group 1 is the payload (RFC 7515, 7.1). */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** The API checks the signature. @throws ConfigError unless it has `sub` and `email`. */
export function parseToken(token: unknown): User {
  const claims = parseClaims(token);
  if (typeof claims !== 'object' || claims === null) {
    throw new ConfigError('The token must be a JWT.');
  }
  const { sub, email } = toRecord(claims);
  if (isText(sub) && isText(email)) return { sub, email };
  throw new ConfigError('The token lacks the claims “sub” and “email”: it must be an ID token.');
}

function parseClaims(token: unknown): unknown {
  const [, payload = ''] = isText(token) ? (JWT.exec(token) ?? []) : [];
  try {
    const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
