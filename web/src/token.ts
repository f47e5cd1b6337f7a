import type { User } from './user.ts';

/**
 * The user of an ID token, as the token says; its signature is checked by the API.
 *
 * @throws Error when the token is not a JWT with the claims `sub` and `email`.
 */
export function parseToken(token: string): User {
  const [, payload = ''] = token.split('.');
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
  const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof claims === 'object' && claims !== null && 'sub' in claims && 'email' in claims) {
    const { sub, email } = claims;
    if (typeof sub === 'string' && typeof email === 'string') return { sub, email };
  }
  throw new Error('The token lacks the claims `sub` and `email`.');
}
