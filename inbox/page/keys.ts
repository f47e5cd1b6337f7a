/** Keyboard shortcuts as in mail programs, outside of text boxes. They can be switched off (WCAG 2.2, 2.1.4). */
import { button, h } from '../../web/ui/dom.ts';
import type { Detail } from './detail.ts';
import type { Outbox } from './outbox.ts';
import type { List } from './list.ts';

const HELP = [
  [['j', '↓'], 'Next inquiry'],
  [['k', '↑'], 'Previous inquiry'],
  [['Enter'], 'Open it'],
  [['r'], 'Write a reply'],
  [['Ctrl+Enter'], 'Send the reply (⌘+Enter on a Mac)'],
  [['d'], 'Dismiss'],
  [['u'], 'Undo the latest answer or dismissal'],
  [['Esc'], 'Leave the text box, then go back to the list'],
  [['/'], 'Search'],
  [['?'], 'Show these keys'],
] as const;

const OFF = 'inbox.keys-off';

function showHelp(): void {
  const letters = h('input', { type: 'checkbox', checked: sessionStorage.getItem(OFF) === null });
  letters.addEventListener('change', () => {
    if (letters.checked) sessionStorage.removeItem(OFF);
    else sessionStorage.setItem(OFF, 'true');
  });
  const keysOf = HELP.flatMap(([keys, meaning]) => [
    h('dt', {}, ...keys.flatMap((key, index) => [index === 0 ? '' : ' ', h('kbd', {}, key)])),
    h('dd', {}, meaning),
  ]);
  const close = button('Close', { class: 'primary' }, () => dialog.close());
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-labelledby': 'keys' },
    h('h2', { id: 'keys' }, 'Keys'),
    h('dl', {}, ...keysOf),
    h('label', { class: 'ib-line ib-check' }, letters, 'Use the keys with one character'),
    h('div', { class: 'actions' }, close),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

interface Parts {
  readonly list: List;
  readonly detail: Detail;
  readonly outbox: Outbox;
  readonly close: () => void;
}

/** Listens for the keys. @returns Opens the dialog that lists them. */
export function listenForKeys({ list, detail, outbox, close }: Parts): () => void {
  const move = (step: 1 | -1): void => {
    const { activeElement: focused } = document;
    const isInList = focused instanceof HTMLAnchorElement && list.element.contains(focused);
    const from = isInList ? focused.hash.slice(1) : detail.opened();
    const link = list.neighbour(from, step);
    // In the list the focus moves, next to it the next inquiry opens.
    if (isInList || detail.opened() === undefined) link?.focus();
    else link?.click();
  };

  const actions: Partial<Record<string, () => void>> = {
    j: () => move(1),
    k: () => move(-1),
    r: detail.reply,
    d: detail.dismiss,
    u: () => outbox.undo(),
    '/': () => {
      // On a narrow page the list shows once the inquiry is closed.
      if (list.search.checkVisibility()) {
        list.search.focus();
      } else {
        addEventListener('hashchange', () => list.search.focus(), { once: true });
        close();
      }
    },
    '?': showHelp,
    Escape: close,
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
  };

  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    // Only keys that move repeat while they are held down.
    if (event.repeat && !/^([jk]|Arrow(Up|Down))$/.test(key)) return;
    if (!(target instanceof HTMLElement) || target.closest('dialog')) return;
    if (target === list.search && key === 'ArrowDown') {
      event.preventDefault();
      list.neighbour(undefined, 1)?.focus();
    }
    if (target.matches('input, textarea')) return;
    const isInUse = key.length > 1 || sessionStorage.getItem(OFF) === null;
    const action =
      isInUse && (!key.startsWith('Arrow') || target.matches('a.ib-row')) && actions[key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  return showHelp;
}
