import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { SigningKey } from './issuer-keys.ts';

export interface User {
  sub: string;
  email: string;
}

/** A token without the sign-in page. It is not validated, so that tests can make bad ones. */
export interface TokenRequest {
  /** Default: the first demo user. */
  email?: string | undefined;
  sub?: string | undefined;
  /** Claims to replace or add, such as `iss`, `aud` and `exp`; null removes one. */
  claims?: Record<string, unknown> | undefined;
}

/** The form's client, which is also the ID tokens' `aud`, as in Cognito. */
export const CLIENT_ID = 'inquiries-local';
export const INBOX_CLIENT_ID = 'inquiries-local-inbox';
export const DEMO_TEAM = ['olga@example.com', 'pete@example.com'] as const;
export const DEMO_USERS = ['ana@example.com', 'ben@example.com', 'chiara@example.com'] as const;
/** Seconds. */
export const TOKEN_LIFETIME = 3600;

/**
 * Signs an ID token as the code flow does.
 *
 * @param issuer - The issuer's URL, for `iss`.
 */
export async function signToken(
  key: SigningKey,
  issuer: string,
  { email = DEMO_USERS[0], sub = subOf(email), claims = {} }: TokenRequest = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const standard = { iss: issuer, aud: CLIENT_ID, auth_time: iat, iat, exp: iat + TOKEN_LIFETIME };
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
 * A Cognito ID token's claims about the user.
 *
 * @param signIn - `origin_jti`, the same in all tokens of a sign-in.
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

/** A UUID in the form of version 4, the same for equal addresses. */
export function subOf(email: string): string {
  return toUuid(`sub ${email}`);
}

function toUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // RFC 9562, 4: version 4, variant 10
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
