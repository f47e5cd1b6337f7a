/** What form and list are created from. */
import type { Inquiry } from '../../src/contract.ts';
import type { Api, Failure } from './api.ts';
import type { Branding } from './config.ts';
import type { Drafts } from './drafts.ts';
import type { Locale } from './locale.ts';
import type { User } from './user.ts';

export interface ViewParts {
  readonly api: Api;
  readonly user: User;
  readonly locale: Locale;
  readonly branding: Branding;
  /** Whether the user's inquiries are listed. */
  readonly withList: boolean;
  /** Leads to the sign-in. @throws when it cannot be reached. */
  readonly signIn: () => Promise<void>;
  /** Default: in the browser's storage. */
  readonly drafts?: Drafts;
  /** The address that leads to an inquiry, where there is one. */
  readonly linkTo?: ((id: string) => string) | undefined;
  /** The id of the inquiry that the address leads to; it is shown after the first page was loaded. */
  readonly linked?: string | undefined;
  readonly onSent?: (inquiry: Inquiry) => void;
  readonly onFailed?: (failure: Failure) => void;
}
