import type { Inquiry } from '../../src/contract.ts';
import type { Api, Failure, User } from './api.ts';
import type { Branding } from './config.ts';
import type { Drafts } from './form/drafts.ts';
import type { Locale } from './languages/locale.ts';

export interface ViewParts {
  api: Api;
  user: User;
  locale: Locale;
  branding: Branding;
  withList: boolean;
  signIn: () => Promise<void>;
  drafts?: Drafts;
  linkTo?: ((id: string) => string) | undefined;
  linked?: string | undefined;
  onSent?: (inquiry: Inquiry, key: string) => void;
  onFailed?: (failure: Failure) => void;
}
