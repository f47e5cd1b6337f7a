import type { Text } from '../languages.ts';

/** What the mails to owners show of the company: some of the form's settings, which `npm run deploy` has checked. */
export interface Company {
  readonly name?: string;
  /** `#rrggbb` */
  readonly accent?: string;
  /** The address of the form, which shows an inquiry by its id. */
  readonly form?: string;
  readonly home?: string;
  readonly privacy?: string;
  readonly imprint?: string;
  /** When an answer can be expected. */
  readonly expectation?: Text;
}

/** @returns undefined when it is not a JSON object. */
export function parseCompany(json: string): Company | undefined {
  try {
    const company: unknown = JSON.parse(json);
    return typeof company === 'object' && company !== null ? company : undefined;
  } catch {
    return undefined;
  }
}
