/** The form and the list of one user. The page and the custom element show it. */
import type { Api } from './api.ts';
import type { Branding } from './config.ts';
import { ask, h } from './dom.ts';
import { createDrafts } from './drafts.ts';
import { createForm } from './form.ts';
import { createList } from './list.ts';
import type { Locale } from './locale.ts';
import type { Failure } from './api.ts';
import type { Inquiry } from '../../src/contract.ts';
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
  /** The address that leads to an inquiry, where there is one. */
  readonly linkTo?: (id: string) => string;
  /** The id of the inquiry that the address leads to. */
  readonly linked?: string;
  readonly onSent?: (inquiry: Inquiry) => void;
  readonly onFailed?: (failure: Failure) => void;
}

export interface View {
  readonly element: HTMLElement;
  /** Asks what becomes of text that is not sent. Resolves to false when the user stays. */
  readonly mayLeave: () => Promise<boolean>;
  /** Loads the list, and finishes sending after a reload or sign-in during sending; never rejects. */
  readonly start: () => Promise<void>;
  /** Shows an inquiry in the list. @param id - Anything else is ignored. */
  readonly show: (id: string) => Promise<void>;
}

export function createView({
  api,
  user,
  locale,
  branding,
  withList,
  signIn,
  linkTo,
  linked,
  onSent,
  onFailed,
}: ViewParts): View {
  const { strings } = locale;
  const drafts = createDrafts(sessionStorage, localStorage, user.sub);
  const list = withList ? createList({ api, user, locale, branding, signIn, linkTo, linked }) : undefined;
  const form = createForm({
    create: api.create,
    drafts,
    user,
    locale,
    branding,
    signIn,
    refreshList: async () => list?.refresh(),
    ...(list !== undefined && { viewInList: (id: string) => void list.view(id) }),
    onSent(inquiry) {
      list?.add(inquiry);
      onSent?.(inquiry);
    },
    onFailed: (failure) => onFailed?.(failure),
  });
  const element = h(
    'div',
    { class: 'view', lang: locale.language, dir: locale.direction },
    h('div', { class: list === undefined ? 'column' : 'columns' }, form.element, list?.element),
    list === undefined ? undefined : form.backButton,
  );
  return {
    element,
    async mayLeave() {
      if (!form.hasText()) return true;
      const answer = await ask(element, strings.ask.unsent, [
        ['keep', strings.ask.keepAndSignOut],
        ['delete', strings.ask.deleteAndSignOut],
        ['stay', strings.ask.staySignedIn],
      ]);
      if (answer === 'delete') drafts.clear();
      return answer === 'keep' || answer === 'delete';
    },
    show: async (id) => list?.view(id),
    async start() {
      await Promise.all([list?.refresh(), form.resume()]);
    },
  };
}
