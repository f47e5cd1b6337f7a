import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const MODULE = join(ROOT, 'infra/terraform');
export const WEB = join(ROOT, 'web');
/** `npm start` keeps inquiries and the issuer's key here by default. */
export const DATA_FOLDER = join(ROOT, '.data');
