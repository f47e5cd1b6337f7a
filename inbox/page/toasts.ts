/** What has just been done or has failed: lines under the list. */
import { showAddress } from '../../src/invisible.ts';
import { button, div, h } from '../../ui/dom.ts';
import { open } from './address.ts';
import type { Inquiry } from './client.ts';

export type Toasts = ReturnType<typeof createToasts>;

export function createToasts() {
  const done = h('div', { role: 'status' });
  const failures = h('div', { role: 'alert' });
  return {
    element: div('ib-toasts', done, failures),
    /** Shows what was done to an inquiry, until it is removed. */
    show({ email }: Inquiry, title: string, undo: () => void): HTMLElement {
      const text = h('p', {}, title, ' ', h('bdi', {}, showAddress(email)));
      const toast = div('ib-line ib-toast', text, undoButton(undo));
      done.append(toast);
      return toast;
    },
    /** Says what has failed, until it is closed. */
    fail({ id, email }: Inquiry, title: string, text: string): void {
      const heading = h('strong', {}, title, ' ', h('bdi', {}, showAddress(email)));
      const close = (): void => failure.remove();
      const read = button('Open it', {}, () => {
        close();
        open(id);
      });
      const failure = div(
        'ib-line ib-toast ib-failed',
        h('p', {}, heading, h('br'), text),
        read,
        button('Close', {}, close),
      );
      failures.append(failure);
    },
  };
}

export const undoButton = (undo: () => void): HTMLElement =>
  button('Undo', { 'aria-keyshortcuts': 'u' }, undo);
