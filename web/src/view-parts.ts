/** What form and list are created from. */
import type { Inquiry } from '../../src/contract.ts';
import type { Api, Failure } from './api.ts';
import type { Branding } from './config.ts';
import type { Drafts } from './drafts.ts';
import type { Locale } from './locale.ts';
import type { User } from './user.ts';

export interface ViewParts {
  api: Api;
  user: User;
  locale: Locale;
  branding: Branding;
  /** Whether the user's inquiries are listed. */
  withList: boolean;
  /** Leads to the sign-in. @throws when it cannot be reached. */
  signIn: () => Promise<void>;
  /** Default: in the browser's storage. */
  drafts?: Drafts;
  /** The address that leads to an inquiry, where there is one. */
  linkTo?: ((id: string) => string) | undefined;
  /** The id of the inquiry that the address leads to; it is shown after the first page was loaded. */
  linked?: string | undefined;
  onSent?: (inquiry: Inquiry) => void;
  onFailed?: (failure: Failure) => void;
}
