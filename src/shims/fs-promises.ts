/**
 * Replaces node:fs/promises, with which the SDK reads configuration files: Lambda has none, and all settings are
 * given (src/entities/client.ts). The module takes 2 ms of each cold start. docs/adr/0060
 */
export const readFile = async (): Promise<never> => {
  throw Object.assign(new Error('The function reads no files.'), { code: 'ENOENT' });
};
