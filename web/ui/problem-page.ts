import { button, h } from './dom.ts';

/** The page that is shown when the application cannot start. @param reload - Label of the button. */
export function problemPage(
  { title, text }: { readonly title: string; readonly text: string },
  reload = 'Reload',
): HTMLElement {
  return h(
    'div',
    { class: 'card welcome', role: 'alert' },
    h('h1', {}, title),
    h('p', { class: 'lead' }, text),
    button(reload, { class: 'primary wide' }, () => location.reload()),
  );
}
