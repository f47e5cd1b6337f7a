/** Below an inquiry: the box of a reply, an answer to undo, or a text that was not sent. */
import { escapeAddress } from '../../text/invisible.ts';
import { button, copyButton, div, h, isComposing } from '../../ui/dom.ts';
import { canMail } from '../words.ts';
import type { Given } from './answers.ts';
import type { Closed, Inquiry, Session } from './client.ts';
import type { Drafts } from './drafts.ts';
import { findBraces } from './fill-in.ts';
import type { Outbox } from './outbox.ts';
import { savedReplyMenu } from './saved-replies.ts';
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

interface Actions {
  onInput: (text: string) => void;
  /** Without a text: a dismissal. */
  onAnswer: (text?: string) => void;
  onLeave: () => void;
}

function createReplyBox(
  inquiry: Inquiry,
  { mail, savedReplies }: Session,
  draft: string,
  { onInput, onAnswer, onLeave }: Actions,
): HTMLElement[] {
  const error = h('p', { class: 'ib-error', id: 'reply-error', role: 'alert' });
  const described = { 'aria-describedby': 'reply-error reply-hint' };
  const text = h('textarea', { id: 'reply', rows: '3', dir: 'auto', ...described }, draft);
  function send(): void {
    const problem = findProblem(text.value);
    // Braces may be meant.
    if (problem === undefined || (problem.isMinor && error.textContent === problem.message)) {
      return onAnswer(text.value);
    }
    text.ariaInvalid = 'true';
    error.textContent = problem.message;
    return text.focus();
  }
  text.addEventListener('input', () => {
    text.ariaInvalid = null;
    error.textContent = '';
    onInput(text.value);
  });
  text.addEventListener('keydown', (event) => {
    if (isComposing(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
    if (event.key === 'Escape') onLeave();
  });
  const menu = savedReplyMenu(savedReplies, inquiry, (saved) => {
    text.focus();
    // Deprecated, but unlike setRangeText it can be undone.
    document.execCommand('insertText', false, saved);
  });
  const owner = h('bdi', {}, escapeAddress(inquiry.email));
  const isMailed = canMail(inquiry) && mail !== 'none';
  const keys = { class: 'primary', 'aria-keyshortcuts': 'Control+Enter Meta+Enter' };
  return [
    div('ib-line ib-dock-head', h('label', { for: 'reply' }, 'Reply to ', owner), ...menu),
    text,
    error,
    div(
      'ib-line ib-actions',
      button(isMailed ? 'Send reply' : 'Record the answer', keys, send),
      button('Dismiss', { 'aria-keyshortcuts': 'd' }, () => onAnswer()),
      h('p', { class: 'ib-hint', id: 'reply-hint' }, ...createMailHint(inquiry, mail)),
    ),
  ];
}

/** `isMinor`: sending again sends it. */
function findProblem(text: string): { message: string; isMinor: boolean } | undefined {
  if (text.trim() === '') return { message: 'Write the answer first.', isMinor: false };
  const braces = findBraces(text).join(', ');
  const message = `Nothing replaces ${braces}: send again if this is meant.`;
  return braces === '' ? undefined : { message, isMinor: true };
}

function createMailHint(inquiry: Inquiry, mail: Session['mail']): (Node | string)[] {
  const owner = h('bdi', {}, escapeAddress(inquiry.email));
  if (!canMail(inquiry)) return ['The answer is recorded and mailed to nobody.'];
  if (mail === 'none') {
    return ['This stage sends no mail: the answer is recorded, and ', owner, ' does not get it.'];
  }
  const condition = ' if this stage sends mail, which your credentials do not tell.';
  return ['The reply is mailed to ', owner, mail === 'sent' ? '.' : condition];
}

function createUnsentBox(
  draft: string,
  say: (text: string) => void,
  onDelete: () => void,
): HTMLElement[] {
  const words = { copied: 'Copied', notCopied: 'Not copied' };
  return [
    h('label', { for: 'unsent' }, 'Your text, which was not sent'),
    h('textarea', { id: 'unsent', dir: 'auto', readonly: true }, draft),
    div(
      'ib-line',
      copyButton('Copy', draft, { 'aria-label': 'Copy your text' }, words, say),
      button('Delete this text', {}, onDelete),
    ),
  ];
}
