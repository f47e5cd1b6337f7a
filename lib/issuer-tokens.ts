/** ID tokens in the shape of Cognito's. */
import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SigningKey } from './issuer-keys.ts';

/** A user who can sign in locally. */
export interface User {
  sub: string;
  email: string;
}

/** Content of a token that is issued without the sign-in page. Nothing is validated, so that tests can make bad tokens. */
export interface TokenRequest {
  /** Default: the first demo user. */
  email?: string | undefined;
  /** Default: `subOf(email)`. */
  sub?: string | undefined;
  /** Replaces or adds claims, `iss`, `aud` and `exp` included; null removes one. */
  claims?: Record<string, unknown> | undefined;
  /** Seconds until `exp`; negative for an expired token. Default: 3600. */
  expiresIn?: number;
}

/** The only client. It is also the `aud` of ID tokens, as in Cognito. */
export const CLIENT_ID = 'inquiries-local';
export const DEMO_USERS = ['ana@example.com', 'ben@example.com', 'chiara@example.com'] as const;
/** Seconds. */
export const TOKEN_LIFETIME = 3600;

/**
 * Signs an ID token with the claims that the code flow issues.
 *
 * @param issuer - The `iss`: the issuer's URL.
 */
export async function signToken(
  key: SigningKey,
  issuer: string,
  {
    email = DEMO_USERS[0],
    sub = subOf(email),
    claims = {},
    expiresIn = TOKEN_LIFETIME,
  }: TokenRequest = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const standard = { iss: issuer, aud: CLIENT_ID, auth_time: iat, iat, exp: iat + expiresIn };
  const all = Object.entries({
    ...userClaims({ sub, email }, randomUUID()),
    ...standard,
    ...claims,
  });
  return new SignJWT(Object.fromEntries(all.filter(([, value]) => value !== null)))
    .setProtectedHeader({ alg: 'RS256', kid: key.kid })
    .sign(key);
}

/**
 * The claims of a Cognito ID token that describe the user.
 *
 * @param signIn - Identifies the sign-in: `origin_jti` is the same in all tokens refreshed from it.
 */
export function userClaims({ sub, email }: User, signIn: string) {
  return {
    sub,
    token_use: 'id',
    'cognito:username': sub,
    email,
    email_verified: true,
    event_id: randomUUID(),
    origin_jti: toUuid(`origin ${signIn}`),
    jti: randomUUID(),
  };
}

/** The `sub` of an e-mail address: a UUID of version-4 form, always the same for the same spelling. */
export function subOf(email: string): string {
  return toUuid(`sub ${email}`);
}

function toUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // RFC 9562 section 4: version 4, variant 10
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
