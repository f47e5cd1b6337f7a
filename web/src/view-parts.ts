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
  withList: boolean;
  /** @throws when the sign-in cannot be reached. */
  signIn: () => Promise<void>;
  /** Default: in the browser's storage. */
  drafts?: Drafts;
  /** The address of an inquiry. */
  linkTo?: ((id: string) => string) | undefined;
  /** The fragment of the address. */
  linked?: string | undefined;
  onSent?: (inquiry: Inquiry) => void;
  onFailed?: (failure: Failure) => void;
}
