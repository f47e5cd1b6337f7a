import { h } from './dom.ts';
import type { Branding } from './config.ts';
import type { Locale } from './languages/locale.ts';

/** Opens a new tab, so that an unsent text stays in this one. */
export const createPrivacyLink = (
  { privacy }: Branding,
  { strings }: Locale,
): HTMLElement | undefined =>
  privacy === undefined
    ? undefined
    : h('p', { class: 'hint' }, h('a', { href: privacy, target: '_blank' }, strings.page.yourData));
