import { UUID } from 'uuidv7';
import { unauthorized } from './errors.ts';

/** The owner of an inquiry is identified by both claims. */
export interface Identity {
  /** In canonical lower case. */
  sub: string;
  /** Exactly as the token has it. */
  email: string;
}

/** The gateway passes booleans as text. docs/contract.md */
export function isEmailVerified(claims: unknown): boolean {
  const { email_verified } = (claims ?? {}) as Partial<Record<string, unknown>>;
  return email_verified === 'true' || email_verified === true;
}

/**
 * Refuses emails with lone surrogates, which would share a partition (docs/contract.md).
 *
 * @throws ApiError 401 when a claim is missing, empty or malformed, or no authorizer ran.
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
