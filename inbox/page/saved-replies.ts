import { button, h } from '../../ui/dom.ts';
import type { Inquiry, Session } from './client.ts';
import { fillIn } from './fill-in.ts';

export function savedReplyMenu(
  saved: Session['savedReplies'],
  inquiry: Inquiry,
  insert: (text: string) => void,
): HTMLElement[] {
  if (saved.length === 0) return [];
  const choices = saved.map(({ title, text }) => {
    const filled = fillIn(text, inquiry);
    const choice = button('', { class: 'ib-choice' }, () => {
      menu.hidePopover();
      insert(filled);
    });
    const beginning = h('span', { class: 'ib-beginning', dir: 'auto' }, filled);
    choice.append(h('strong', { dir: 'auto' }, title), beginning);
    return h('li', {}, choice);
  });
  const menu = h('ul', { class: 'ib-saved', id: 'saved', role: 'list', popover: true }, ...choices);
  const opener = { class: 'ib-link', popovertarget: menu.id };
  return [button('Saved replies', opener, () => undefined), menu];
}
