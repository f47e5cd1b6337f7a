/** The JWT authorizer of an API Gateway HTTP API: what it accepts, what it refuses and how it says so. */
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';

/** Claims as the gateway hands them on: every one a string. */
export type Claims = Record<string, string>;

/** A refusal; `challenge` is the value of `www-authenticate` (RFC 6750 section 3). */
interface Refusal {
  readonly challenge: string;
}

export type Authorize = (authorization: string | undefined) => Promise<{ readonly claims: Claims } | Refusal>;

/** Three parts in base64url, RFC 7515 section 7.1. jose would overlook white space. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** The gateway takes RSA signatures only. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];
/** Milliseconds: keys are kept for two hours as AWS keeps them, and an unknown `kid` refetches at most twice a minute. */
const KEY_CACHE = { cacheMaxAge: 7_200_000, cooldownDuration: 30_000, timeoutDuration: 5_000 };

/**
 * Creates the authorizer. It trusts nothing but the signature: a key of the issuer's JWKS named by the token's
 * own `kid`, `iss` and `aud` as configured, `exp` in the future, `nbf` and `iat` not in the future.
 *
 * Source: API Gateway Developer Guide, "Control access to HTTP APIs with JWT authorizers".
 *
 * @param issuer - The exact `iss`; keys are found through its discovery document.
 * @param audience - A token is for us when `aud`, or `client_id` where there is no `aud`, is one of these.
 */
export function createAuthorizer({
  issuer,
  audience,
}: {
  issuer: string;
  audience: readonly string[];
}): Authorize {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const findKeys = async (): Promise<JWTVerifyGetKey> => {
    keys ??= discoverKeys(issuer);
    try {
      return await keys;
    } catch (error) {
      keys = undefined;
      throw error;
    }
  };

  return async (authorization) => {
    if (authorization === undefined || authorization === '') return { challenge: 'Bearer' };
    // The bare token or `Bearer <token>`. docs/adr/0002
    const token = authorization.replace(/^Bearer /i, '');
    if (!COMPACT_JWS.test(token)) return invalidToken('the token is malformed');
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) return invalidToken('invalid algorithm');
      if (typeof kid !== 'string') return invalidToken('the token has no key identifier');
      const { payload } = await jwtVerify(token, await findKeys(), { algorithms: ALGORITHMS, issuer });
      const fault = findFault(payload, audience, Math.floor(Date.now() / 1000));
      return fault === undefined ? { claims: toClaims(payload) } : invalidToken(fault);
    } catch {
      return invalidToken('the token could not be verified');
    }
  };
}

/** What jose leaves to its caller or lets pass and the gateway does not. */
function findFault(payload: JWTPayload, audience: readonly string[], now: number): string | undefined {
  const { aud, exp, iat, nbf } = payload;
  if (!Number.isFinite(exp)) return 'the token must have an expiry';
  if (iat !== undefined && iat > now) return 'the token was issued in the future';
  if (nbf !== undefined && nbf > now) return 'the token is not valid yet';
  const candidates = aud === undefined ? [payload['client_id']] : [aud].flat();
  return candidates.some((candidate) => typeof candidate === 'string' && audience.includes(candidate))
    ? undefined
    : 'the token has an invalid audience';
}

const invalidToken = (description: string): Refusal => ({
  challenge: `Bearer scope="" error="invalid_token" error_description="${description}"`,
});

/** OpenID Connect Discovery 1.0, section 4: the issuer's document names its JWKS. */
async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(KEY_CACHE.timeoutDuration),
  });
  const document: unknown = await response.json();
  const { jwks_uri } = (document ?? {}) as Partial<Record<string, unknown>>;
  return createRemoteJWKSet(new URL(String(jwks_uri)), KEY_CACHE);
}

/** Numbers and booleans become text, arrays `[a b]`, objects JSON; nulls are left out. */
function toClaims(payload: JWTPayload): Claims {
  const toText = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(toText).join(' ')}]`
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  return Object.fromEntries(
    Object.entries(payload).flatMap(([name, value]) => (value === null ? [] : [[name, toText(value)]])),
  );
}
