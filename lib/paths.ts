import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const MODULE = join(ROOT, 'infra/terraform');
export const WEB = join(ROOT, 'web');
/** `npm start` keeps its data here by default. */
export const DATA_FOLDER = join(ROOT, '.data');
