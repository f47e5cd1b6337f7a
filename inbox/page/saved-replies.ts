/** The menu of saved replies (inbox/saved-replies.ts). */
import { button, h } from '../../web/ui/dom.ts';
import type { Inquiry, Session } from './client.ts';
import { fillIn } from './fill-in.ts';

/** @returns undefined without saved replies. */
export function savedReplyMenu(
  saved: Session['savedReplies'],
  inquiry: Inquiry,
  insert: (text: string) => void,
): HTMLElement | undefined {
  if (saved.length === 0) return undefined;
  const choices = saved.map(({ title, text }) => {
    const filled = fillIn(text, inquiry);
    const choice = button('', { class: 'ib-choice' }, () => {
      menu.open = false;
      insert(filled);
    });
    const beginning = h('span', { class: 'ib-beginning', dir: 'auto' }, filled);
    choice.append(h('strong', { dir: 'auto' }, title), beginning);
    return h('li', {}, choice);
  });
  const summary = h('summary', {}, 'Saved replies');
  const menu = h('details', { class: 'ib-saved' }, summary, h('ul', { role: 'list' }, ...choices));
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    summary.focus();
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
  return menu;
}
