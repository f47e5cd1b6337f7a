import nodeCrypto from 'node:crypto';

/** The global `crypto` would load Web Crypto, 1 ms of a cold start. docs/adr/0060 */
export const crypto = nodeCrypto;
