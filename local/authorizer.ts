import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose';

export type Claims = Record<string, string>;

/** `challenge` is for `www-authenticate` (RFC 6750, 3). */
export type Authorize = (
  authorization: string | undefined,
) => Promise<{ claims: Claims } | { challenge: string }>;

/** RFC 7515, 7.1. jose would ignore white space. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];
/** Milliseconds, as on AWS. */
const KEY_CACHE = { cacheMaxAge: 7_200_000 };

/**
 * Source: API Gateway Developer Guide, "Control access to HTTP APIs with JWT authorizers".
 *
 * @param options.audience - Values of `aud`, or of `client_id` in a token without `aud`.
 * @param options.keysUrl - The issuer's JWKS.
 */
export function createAuthorizer(options: {
  issuer: string;
  audience: readonly string[];
  keysUrl?: string;
}): Authorize {
  const { issuer, audience, keysUrl = `${issuer}/.well-known/jwks.json` } = options;
  const keys = createRemoteJWKSet(new URL(keysUrl), KEY_CACHE);

  return async (authorization) => {
    if (!authorization) return { challenge: 'Bearer' };
    // The prefix is optional (docs/contract.md).
    const token = authorization.replace(/^Bearer /i, '');
    if (!COMPACT_JWS.test(token)) return invalidToken('the token is malformed');
    try {
      // jose accepts a token without `kid` if the issuer has one key.
      const { kid } = decodeProtectedHeader(token);
      if (typeof kid !== 'string') return invalidToken('the token has no key identifier');
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
      });
      const reason = findInvalidClaim(payload, audience);
      return reason === undefined ? { claims: toClaims(payload) } : invalidToken(reason);
    } catch {
      return invalidToken('the token could not be verified');
    }
  };
}

function findInvalidClaim(payload: JWTPayload, audience: readonly string[]): string | undefined {
  const { aud, exp, iat } = payload;
  if (!Number.isFinite(exp)) return 'the token must have an expiry';
  if (iat !== undefined && iat > Date.now() / 1000) return 'the token was issued in the future';
  const candidates = aud === undefined ? [payload['client_id']] : [aud].flat();
  return candidates.some(
    (candidate) => typeof candidate === 'string' && audience.includes(candidate),
  )
    ? undefined
    : 'the token has an invalid audience';
}

const invalidToken = (description: string) => ({
  challenge: `Bearer scope="" error="invalid_token" error_description="${description}"`,
});

function toClaims(payload: JWTPayload): Claims {
  const toText = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(toText).join(' ')}]`
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  const present = Object.entries(payload).filter(([, value]) => value !== null);
  return Object.fromEntries(present.map(([name, value]) => [name, toText(value)]));
}
