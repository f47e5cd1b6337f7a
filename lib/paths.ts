import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const MODULE = join(ROOT, 'infra/terraform');
export const WEB = join(ROOT, 'web');
export const UI = join(ROOT, 'ui');
export const DATA_FOLDER = join(ROOT, '.data');
