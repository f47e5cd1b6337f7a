import { toReference } from '../../src/limits.ts';
import { isolate } from './bidi.ts';
import { inLanguage } from '../../src/text/languages.ts';
import { describeAnswer } from './messages.ts';
import { copyButton } from '../../ui/copy.ts';
import type { Inquiry } from '../../src/contract.ts';
import { button, div, h } from '../../ui/dom.ts';
import type { ViewParts } from './view-parts.ts';

type SentParts = Pick<ViewParts, 'user' | 'locale' | 'branding'>;

/** @returns Also the title, which takes the focus. */
export function sentPanel(
  inquiry: Inquiry,
  { user, locale, branding }: SentParts,
  writeAnother: () => void,
  say: (text: string) => void,
): { element: HTMLElement; title: HTMLElement } {
  const { form, sent, list: listed } = locale.strings;
  const { expectation } = branding;
  const answer =
    describeAnswer(user, branding, locale) ??
    locale.join(form.noMail(isolate(user.email)), sent.reachable);
  const reference = toReference(inquiry.id);
  const title = h('h1', { tabindex: '-1' }, sent.title);
  const element = div(
    'sent',
    title,
    div(
      'notice reference',
      h(
        'p',
        {},
        h('span', { class: 'hint' }, sent.reference),
        ' ',
        h('code', { dir: 'ltr' }, reference),
      ),
      copyButton(sent.copy, reference, {}, listed, say),
    ),
    expectation === undefined ? undefined : h('p', {}, inLanguage(expectation, locale.language)),
    h('p', {}, answer),
    div('actions', button(sent.another, { class: 'link' }, writeAnother)),
  );
  return { element, title };
}
