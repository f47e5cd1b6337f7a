/** Keyboard shortcuts as in mail programs, outside of text boxes. They can be switched off (WCAG 2.2, 2.1.4). */
import { button, h } from '../../ui/dom.ts';
import { close, open } from './address.ts';
import type { Detail } from './detail.ts';
import type { Outbox } from './outbox.ts';
import type { List } from './list.ts';

const HELP = {
  'j ↓': 'Next inquiry',
  'k ↑': 'Previous inquiry',
  Enter: 'Open it',
  r: 'Write a reply',
  'Ctrl+Enter': 'Send the reply (⌘+Enter on a Mac)',
  d: 'Dismiss',
  u: 'Undo the latest answer or dismissal',
  Esc: 'Leave the text box, then go back to the list',
  '/': 'Search',
  '?': 'Show these keys',
};

const OFF = 'inbox.keys-off';

const areOn = (): boolean => sessionStorage.getItem(OFF) !== 'true';

/** Opens the dialog that lists the keys. */
export function showKeys(): void {
  const letters = h('input', { type: 'checkbox', checked: areOn() });
  letters.addEventListener('change', () => sessionStorage.setItem(OFF, String(!letters.checked)));
  const keys = Object.entries(HELP).flatMap(([names, meaning]) => [
    h('dt', {}, ...names.split(' ').map((name) => h('kbd', {}, name))),
    h('dd', {}, meaning),
  ]);
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-labelledby': 'keys' },
    h('h2', { id: 'keys' }, 'Keys'),
    h('dl', {}, ...keys),
    h('label', { class: 'ib-line ib-check' }, letters, 'Use the keys with one character'),
    h(
      'div',
      { class: 'actions' },
      button('Close', { class: 'primary' }, () => dialog.close()),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function listenForKeys(list: List, detail: Detail, outbox: Outbox): void {
  const move = (step: 1 | -1) => (): void => {
    const { activeElement: focused } = document;
    const isInList = focused instanceof HTMLAnchorElement && list.element.contains(focused);
    const id = list.neighbour(step, isInList ? focused.hash.slice(1) : detail.opened());
    if (id === undefined) return;
    // In the list the focus moves, next to it the next inquiry opens.
    if (isInList || detail.opened() === undefined) list.focus(id);
    else open(id);
  };

  function search(): void {
    const focus = (): void => list.search.focus();
    if (list.search.checkVisibility()) return focus();
    // On a narrow page the list shows once the inquiry is closed.
    addEventListener('hashchange', focus, { once: true });
    return close();
  }

  const letters: Partial<Record<string, () => void>> = {
    j: move(1),
    k: move(-1),
    r: detail.reply,
    d: detail.dismiss,
    u: () => outbox.undo(),
    '/': search,
    '?': showKeys,
  };
  const arrows: typeof letters = { ArrowDown: move(1), ArrowUp: move(-1) };

  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    // Only keys that move repeat while they are held down.
    if (event.repeat && !/^([jk]|Arrow(Up|Down))$/.test(key)) return;
    if (!(target instanceof HTMLElement) || document.querySelector('dialog, :popover-open')) return;
    const isRow = target.matches('a.ib-row') || (target === list.search && key === 'ArrowDown');
    const isText = target.matches('input, textarea');
    const action =
      (isRow && arrows[key]) ||
      (!isText && ((areOn() && letters[key]) || (key === 'Escape' && close)));
    if (!action) return;
    event.preventDefault();
    action();
  });
}
