/** Below an inquiry: the box of a reply, an answer to undo, or a text that was not sent. */
import { div } from '../../ui/dom.ts';
import type { Given } from './answers.ts';
import type { Closed, Inquiry, Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import type { Outbox } from './outbox.ts';
import { createReplyBox, createUnsentBox } from './reply-box.ts';
import { undoButton } from './toasts.ts';
import { noteTyping } from './typing.ts';

export interface DockParts {
  drafts: Drafts;
  session: Session;
  outbox: Outbox;
  /** A draft was begun or deleted, or the inquiry closed. */
  onChange: (id: string, answer?: Closed) => void;
  onAnswer: (given: Given) => void;
}

/** @param say - Announces to a screen reader. */
export function createDock(
  { drafts, session, outbox, onChange, onAnswer }: DockParts,
  say: (text: string) => void,
  focusHeading: () => void,
) {
  const element = div('ib-dock');
  /** Undefined where there is nothing to answer. */
  let dismiss: (() => void) | undefined;

  const isFocused = (): boolean => element.contains(document.activeElement);

  function keepDraft(id: string, text: string): void {
    const isNew = (drafts.get(id) === '') !== (text === '');
    drafts.set(id, text);
    if (isNew) onChange(id);
  }

  return {
    element,
    isFocused,
    takesAnswer: () => dismiss !== undefined,
    dismiss: () => dismiss?.(),
    clear(): void {
      if (isFocused()) noteTyping();
      dismiss = undefined;
      element.replaceChildren();
    },
    focus(): void {
      const text = element.querySelector('textarea');
      if (text !== null) text.focus();
      else if (document.activeElement === document.body) focusHeading();
    },
    offerReply(inquiry: Inquiry): void {
      const { id } = inquiry;
      const answer = (text?: string): void => onAnswer({ inquiry, text });
      const onInput = (text: string): void => keepDraft(id, text);
      const actions = { onInput, onAnswer: answer, onLeave: focusHeading };
      element.append(...createReplyBox(inquiry, session, drafts.get(id), actions));
      dismiss = answer;
    },
    offerUndo(given: Given): void {
      if (outbox.canUndo(given)) element.append(undoButton(() => outbox.undo(given)));
    },
    /** For an inquiry that takes no answer any more. */
    offerUnsent(id: string): void {
      const draft = drafts.get(id);
      if (draft === '') return;
      const discard = (): void => {
        keepDraft(id, '');
        element.replaceChildren();
        focusHeading();
      };
      element.append(...createUnsentBox(draft, say, discard));
    },
  };
}
