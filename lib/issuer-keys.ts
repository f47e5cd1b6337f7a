import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { readIfThere, UsageError } from './command-line.ts';

export type SigningKey = JWK & { kid: string };

/** `kid` is the RFC 7638 thumbprint. */
export async function createKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'RS256', use: 'sig' };
}

/**
 * Reads a key file. With `create`, a missing one is written with mode 0600.
 *
 * @throws UsageError naming the file, without its content.
 */
export async function readKey(file: string, { create = false } = {}): Promise<SigningKey> {
  try {
    if (create && readIfThere(file) === undefined) await writeKey(file);
    return await parseKey(await readFile(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`The issuer's key file ${file} cannot be used: ${reason}`, { cause });
  }
}

async function writeKey(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify({ jwk: await createKey() }), { mode: 0o600, flag: 'wx' });
  await rename(draft, file); // atomic: no reader sees a partial file
}

async function parseKey(text: string): Promise<SigningKey> {
  try {
    const { jwk } = JSON.parse(text) as { jwk: JWK };
    const key = await importJWK(jwk, 'RS256');
    if (!(key instanceof CryptoKey) || key.type !== 'private' || jwk.kid === undefined) {
      throw new Error();
    }
    return { ...jwk, kid: jwk.kid };
  } catch {
    throw new Error('not a key file of this issuer; delete it to get a new one');
  }
}
