import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { JWK } from 'jose';
import { readIfThere, UsageError } from '../terminal/command-line.ts';

export type SigningKey = JWK & { kid: string };

export function createKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

/**
 * Reads a key file. With `create`, a missing one is written with mode 0600.
 *
 * @throws UsageError naming the file, without its content.
 */
export function readKey(file: string, { create = false } = {}): SigningKey {
  try {
    if (create && readIfThere(file) === undefined) {
      const draft = `${file}.draft`;
      writeFileSync(draft, JSON.stringify({ jwk: createKey() }), { mode: 0o600 });
      // An interrupted start or a full disk leaves no part of a key.
      renameSync(draft, file);
    }
    return parseKey(readFileSync(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`The issuer's key file ${file} cannot be used: ${reason}`, { cause });
  }
}

function parseKey(text: string): SigningKey {
  try {
    const { jwk } = JSON.parse(text) as { jwk: SigningKey };
    // This also throws for a public key.
    createPrivateKey({ key: jwk, format: 'jwk' });
    if (typeof jwk.kid !== 'string') throw new Error();
    return jwk;
  } catch {
    throw new Error('not a key file of this issuer; delete it to get a new one');
  }
}
