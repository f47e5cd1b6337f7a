import type { Given } from './answers.ts';
import type { Inquiry, Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import type { Outbox } from './outbox.ts';
import type { Pane } from './pane.ts';
import { createReplyBox, createUnsentBox } from './reply-box.ts';
import { undoButton } from './toasts.ts';

export interface DockParts {
  drafts: Drafts;
  session: Session;
  outbox: Outbox;
  onChange: (id: string) => void;
  onAnswer: (given: Given) => void;
}

export function createDock(pane: Pane, parts: DockParts) {
  const { drafts, outbox } = parts;
  const { dock, focusHeading } = pane;
  /** Undefined where there is nothing to answer. */
  let dismiss: (() => void) | undefined;

  function keepDraft(id: string, text: string): void {
    const isNew = (drafts.get(id) === '') !== (text === '');
    drafts.set(id, text);
    if (isNew) parts.onChange(id);
  }

  return {
    canAnswer: () => dismiss !== undefined,
    dismiss: () => dismiss?.(),
    clear(isOpen: boolean): void {
      dismiss = undefined;
      pane.clear(isOpen);
    },
    offerReply(inquiry: Inquiry): void {
      const { id } = inquiry;
      const onAnswer = (text?: string): void => parts.onAnswer({ inquiry, text });
      const onInput = (text: string): void => keepDraft(id, text);
      const actions = { onInput, onAnswer, onLeave: focusHeading };
      dock.append(...createReplyBox(inquiry, parts.session, drafts.get(id), actions));
      dismiss = onAnswer;
    },
    offerUndo(given: Given): void {
      if (outbox.canUndo(given)) dock.append(undoButton(() => outbox.undo(given)));
    },
    /** For an inquiry that takes no answer any more. */
    offerUnsent(id: string): void {
      const draft = drafts.get(id);
      if (draft === '') return;
      const discard = (): void => {
        keepDraft(id, '');
        dock.replaceChildren();
        focusHeading();
      };
      dock.append(...createUnsentBox(draft, pane.say, discard));
    },
    focusReply(): void {
      const text = dock.querySelector('textarea');
      if (text !== null) text.focus();
      else if (document.activeElement === document.body) focusHeading();
    },
  };
}
