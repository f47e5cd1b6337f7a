import { UUID } from 'uuidv7';
import { unauthorized } from './errors.ts';

/** Who calls: both claims together are the owner of an inquiry. */
export interface Identity {
  /** The `sub` claim as a UUID in canonical lower case. */
  sub: string;
  /** The `email` claim, byte for byte. */
  email: string;
}

/**
 * Whether the issuer has verified the email: the claim `email_verified` is true. The gateway passes booleans as text.
 * docs/contract.md
 */
export function isEmailVerified(claims: unknown): boolean {
  const { email_verified } = (claims ?? {}) as Partial<Record<string, unknown>>;
  return email_verified === 'true' || email_verified === true;
}

/**
 * Narrows the claims the gateway passes on. Source: spec, "Authentication" 3. `sub` may take any form that a UUID parser
 * takes, of any version and variant; the email is not touched. One with a lone surrogate has no UTF-8 form and would
 * share a partition with others like it: refused. docs/contract.md
 *
 * @throws ApiError 401 when a claim is missing, empty or malformed, or when no authorizer ran.
 */
export function parseIdentity(claims: unknown): Identity {
  const { email, sub } = (claims ?? {}) as Partial<Record<string, unknown>>;
  if (typeof email !== 'string' || email === '' || !email.isWellFormed()) throw unauthorized();
  if (typeof sub !== 'string') throw unauthorized();
  try {
    return { sub: UUID.parse(sub).toString(), email };
  } catch {
    throw unauthorized();
  }
}
