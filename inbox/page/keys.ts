/** Shortcuts can be switched off (WCAG 2.2, 2.1.4). */
import { button, div, h, isComposing } from '../../ui/dom.ts';
import { openInquiry, showList } from './address.ts';
import type { Detail } from './detail.ts';
import { nameOf } from './key-name.ts';
import type { Outbox } from './outbox.ts';
import type { List } from './list.ts';
import { isTextBox, isTyping, noteTyping } from './typing.ts';

const HELP = {
  'j ↓': 'Next inquiry',
  'k ↑': 'Previous inquiry',
  Enter: 'Open it',
  Esc: 'Leave the text box, then go back to the list',
  r: 'Write a reply',
  'Ctrl+Enter': 'Send the reply (⌘+Enter on a Mac)',
  d: 'Dismiss',
  u: 'Undo the latest answer or dismissal',
  '/': 'Search',
  '?': 'Show these keys',
};

const CHANGES = new Set(['d', 'u']);

const OFF = 'inbox.keys-off';

const areOn = (): boolean => sessionStorage.getItem(OFF) !== 'true';

export function showKeys(): void {
  const letters = h('input', { type: 'checkbox', checked: areOn() });
  letters.addEventListener('change', () => sessionStorage.setItem(OFF, String(!letters.checked)));
  const keys = Object.entries(HELP).map(([names, meaning]) =>
    div(
      'ib-key',
      h('dt', {}, ...names.split(' ').map((name) => h('kbd', {}, name))),
      h('dd', {}, meaning),
    ),
  );
  const dialog: HTMLDialogElement = h(
    'dialog',
    { class: 'ib-help', 'aria-labelledby': 'keys' },
    h('h2', { id: 'keys' }, 'Keys'),
    h('dl', {}, ...keys),
    h('label', { class: 'ib-line ib-check' }, letters, 'Use the keys with one character'),
    div(
      'actions',
      button('Close', { class: 'primary' }, () => dialog.close()),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function createActions(list: List, detail: Detail, outbox: Outbox) {
  const move = (step: 1 | -1) => (): void => {
    const { activeElement: focused } = document;
    const isInList = focused instanceof HTMLAnchorElement && list.element.contains(focused);
    const id = list.neighbour(step, isInList ? focused.hash.slice(1) : detail.opened());
    if (id === undefined) return;
    // In the list the focus moves; elsewhere the next inquiry opens.
    if (isInList || detail.opened() === undefined) list.focus(id);
    else openInquiry(id);
  };
  function search(): void {
    const focus = (): void => list.search.focus();
    if (list.search.checkVisibility()) return focus();
    // A narrow page shows the list once the inquiry is closed.
    addEventListener('hashchange', focus, { once: true });
    return showList();
  }
  const letters: Partial<Record<string, () => void>> = {
    j: move(1),
    k: move(-1),
    r: detail.focusReply,
    d: detail.dismiss,
    u: () => outbox.undo(),
    '/': search,
    '?': showKeys,
  };
  const arrows: typeof letters = { ArrowDown: move(1), ArrowUp: move(-1) };
  return { letters, arrows };
}

export function listenForKeys(list: List, detail: Detail, outbox: Outbox): void {
  const { letters, arrows } = createActions(list, detail, outbox);

  function actionOf(key: string, target: HTMLElement): (() => void) | undefined {
    const isRow = target.matches('a.ib-row') || (target === list.search && key === 'ArrowDown');
    if (isRow && arrows[key] !== undefined) return arrows[key];
    if (isTextBox(target)) return undefined;
    if (key === 'Escape') return showList;
    return areOn() ? letters[key] : undefined;
  }

  document.addEventListener('keydown', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLElement) || document.querySelector('dialog, :popover-open')) return;
    if (isTextBox(target)) noteTyping();
    if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = nameOf(event);
    const action = actionOf(key, target);
    if (action === undefined) {
      // Somebody may believe to be in a text.
      if (areOn() && /^\S$/u.test(key)) noteTyping();
      return;
    }
    event.preventDefault();
    if (CHANGES.has(key) && isTyping()) return;
    // Only keys that move repeat.
    if (!event.repeat || /^([jk]|Arrow(Up|Down))$/.test(key)) action();
  });
}
