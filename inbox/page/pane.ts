import { button, div, h, live, notice } from '../../ui/dom.ts';
import { formatCount } from '../../ui/format.ts';
import { showList } from './address.ts';
import type { Inquiry } from './client.ts';
import { noteTyping } from './typing.ts';

export type Pane = ReturnType<typeof createPane>;

/** `read`: the inquiry; `dock`: its controls. */
export function createPane() {
  const back = button('‹ Back to the list', { class: 'ib-link ib-back' }, showList);
  const outcome = live('alert');
  const status = h('p', { class: 'sr', role: 'status' });
  const read = div('ib-read');
  const dock = div('ib-dock');
  const name = { class: 'ib-detail', 'aria-label': 'Inquiry' };
  const heading = (): HTMLElement =>
    read.querySelector('h2') ?? outcome.querySelector('button') ?? back;
  return {
    element: h('section', name, back, status, read, outcome, dock),
    read,
    dock,
    say: (text: string) => void (status.textContent = text),
    /** The heading, or a failure's button. */
    heading,
    focusHeading: () => heading().focus(),
    clear(isOpen: boolean): void {
      if (dock.contains(document.activeElement)) noteTyping();
      back.hidden = !isOpen;
      for (const part of [outcome, read, dock]) part.replaceChildren();
    },
    fail(text: string, onAgain: () => Promise<void>): void {
      const failed = { title: 'The inquiry could not be loaded', text };
      outcome.replaceChildren(notice('bad', failed, button('Try again', {}, onAgain)));
    },
    tellOfAnswer({ respondent = '', reply }: Inquiry, hasDraft: boolean): void {
      const verb = reply === undefined ? 'dismissed' : 'answered';
      const text = hasDraft
        ? 'Your text was not sent. It is kept, and you can copy it.'
        : undefined;
      const title = `${respondent} has ${verb} this meanwhile`;
      outcome.replaceChildren(notice('plain', { title, text }));
      read.querySelector('.ib-answer')?.scrollIntoView({ block: 'nearest' });
    },
    showOthers({ count, isAll }: { count: number; isAll: boolean }, onSearch: () => void): void {
      if (count === 0) return;
      const label = `${formatCount(count, 'more', 'more')}${isAll ? '' : ' or more'} from this address`;
      read.querySelector('.ib-meta')?.append(button(label, { class: 'ib-link' }, onSearch));
    },
  };
}
