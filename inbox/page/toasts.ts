import { escapeAddress } from '../../text/invisible.ts';
import { escapeText } from '../../text/visible.ts';
import { toReference } from '../../src/limits.ts';
import { button, div, h } from '../../ui/dom.ts';
import { beginningOf } from '../../ui/format.ts';
import { subjectOf } from '../words.ts';
import { openInquiry } from './address.ts';
import type { Inquiry } from './client.ts';

export type Toasts = ReturnType<typeof createToasts>;

/** Only the id is known of an inquiry that is gone. */
type Named = Pick<Inquiry, 'id'> & Partial<Pick<Inquiry, 'email' | 'subject'>>;

const MOST_LINES = 3;

const SUBJECT_LENGTH = 60;

export function createToasts() {
  const done = h('div', { role: 'status' });
  const failures = h('div', { role: 'alert' });
  const lines: { element: HTMLElement; undo: () => void }[] = [];
  const count = h('p');
  const undoLast = button('Undo last', { 'aria-keyshortcuts': 'u' }, () => lines.at(-1)?.undo());
  const summary = div('ib-line ib-toast', count, undoLast);

  function draw(): void {
    const areMany = lines.length > MOST_LINES;
    for (const { element } of lines) element.hidden = areMany;
    count.textContent = `${lines.length} answered or dismissed`;
    if (areMany) done.append(summary);
    else summary.remove();
  }

  return {
    element: div('ib-toasts', done, failures),
    add(inquiry: Named, title: string, undo: () => void) {
      const text = h('p', {}, `${title} `, ...nameOf(inquiry));
      const line = { element: div('ib-line ib-toast', text, undoButton(undo)), undo };
      lines.push(line);
      done.append(line.element);
      draw();
      const shown = (): HTMLElement =>
        lines.length > MOST_LINES && lines.at(-1) === line ? summary : line.element;
      return {
        isInUse: () => shown().matches(':hover, :focus-within'),
        remove(): void {
          lines.splice(lines.indexOf(line), 1);
          line.element.remove();
          draw();
        },
      };
    },
    fail(inquiry: Named, title: string, text: string): void {
      const heading = h('strong', {}, `${title} `, ...nameOf(inquiry));
      const remove = (): void => failure.remove();
      const open = button('Open it', {}, () => {
        remove();
        openInquiry(inquiry.id);
      });
      const failure = div(
        'ib-line ib-toast ib-failed',
        h('p', {}, heading, h('br'), text),
        open,
        button('Close', {}, remove),
      );
      failures.append(failure);
    },
  };
}

function nameOf({ id, email, subject }: Named): (Node | string)[] {
  if (email === undefined || subject === undefined) return [toReference(id)];
  const beginning = beginningOf(escapeText(subjectOf({ subject })), SUBJECT_LENGTH);
  return [h('bdi', {}, escapeAddress(email)), ', ', h('bdi', {}, beginning)];
}

export const undoButton = (undo: () => void): HTMLElement =>
  button('Undo', { 'aria-keyshortcuts': 'u' }, undo);
