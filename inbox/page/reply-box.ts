import { escapeAddress } from '../../src/text/invisible.ts';
import { button, copyButton, div, h, isComposing } from '../../ui/dom.ts';
import { canMail } from '../words.ts';
import type { Inquiry, Session } from './client.ts';
import { findBraces } from './fill-in.ts';
import { savedReplyMenu } from './saved-replies.ts';

interface Actions {
  onInput: (text: string) => void;
  /** Without a text: a dismissal. */
  onAnswer: (text?: string) => void;
  onLeave: () => void;
}

export function createReplyBox(
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

export function createUnsentBox(
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
