import nodeCrypto from 'node:crypto';

/** Replaces the global `crypto`: asking that for a random id loads Web Crypto, 1 ms of a cold start. docs/adr/0060 */
export const crypto = nodeCrypto;
