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
  /** @throws if the sign-in cannot be reached. */
  signIn: () => Promise<void>;
  /** Default: the browser's storage. */
  drafts?: Drafts;
  /** An inquiry's address. */
  linkTo?: ((id: string) => string) | undefined;
  /** The address's fragment. */
  linked?: string | undefined;
  onSent?: (inquiry: Inquiry) => void;
  onFailed?: (failure: Failure) => void;
}
