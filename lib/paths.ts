/** Folders of the repository, absolute. */
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
/** The Terraform module of the stages. */
export const MODULE = join(ROOT, 'infra/terraform');
/** The contact form. */
export const WEB = join(ROOT, 'web');
export const UI = join(ROOT, 'ui');
/** Where `npm start` keeps inquiries and the issuer's key, unless `--data` names another folder. */
export const DATA_FOLDER = join(ROOT, '.data');
