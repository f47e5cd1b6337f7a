/** The box in which a reply is written, and the one with a reply that was not sent. */
import { showAddress } from '../../src/invisible.ts';
import { button, div, h } from '../../ui/dom.ts';
import { canMail } from '../words.ts';
import type { Inquiry, Session } from './client.ts';
import { savedReplyMenu } from './saved-replies.ts';

interface Actions {
  onInput: (text: string) => void;
  /** Without a text: the inquiry is dismissed. */
  onAnswer: (text?: string) => void;
  /** Esc was pressed. */
  onLeave: () => void;
}

/** @param draft - What has been written before. */
export function createReplyBox(
  inquiry: Inquiry,
  { mail, savedReplies }: Session,
  draft: string,
  { onInput, onAnswer, onLeave }: Actions,
): HTMLElement[] {
  const error = h('p', { class: 'ib-error', id: 'reply-error', role: 'alert' });
  const described = { 'aria-describedby': 'reply-error reply-hint' };
  const text = h('textarea', { id: 'reply', rows: '3', dir: 'auto', ...described }, draft);
  text.addEventListener('input', () => {
    text.ariaInvalid = null;
    error.textContent = '';
    onInput(text.value);
  });
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
    if (event.key === 'Escape') onLeave();
  });
  function send(): void {
    if (text.value.trim() !== '') return onAnswer(text.value);
    text.ariaInvalid = 'true';
    error.textContent = 'Write the answer first.';
    return text.focus();
  }
  const menu = savedReplyMenu(savedReplies, inquiry, (saved) => {
    text.focus();
    text.setRangeText(saved, text.selectionStart, text.selectionEnd, 'end');
    text.dispatchEvent(new Event('input'));
  });
  const owner = h('bdi', {}, showAddress(inquiry.email));
  const label = h('label', { for: 'reply' }, 'Reply to ', owner);
  const isMailed = canMail(inquiry) && mail !== 'none';
  const keys = { class: 'primary', 'aria-keyshortcuts': 'Control+Enter Meta+Enter' };
  return [
    div('ib-line ib-dock-head', label, ...menu),
    text,
    error,
    div(
      'ib-line ib-actions',
      button(isMailed ? 'Send reply' : 'Record the answer', keys, send),
      button('Dismiss', { 'aria-keyshortcuts': 'd' }, () => onAnswer()),
      h('p', { class: 'ib-hint', id: 'reply-hint' }, ...describeMail(inquiry, mail)),
    ),
  ];
}

/** What becomes of a reply, in words. */
function describeMail(inquiry: Inquiry, mail: Session['mail']): (Node | string)[] {
  const owner = h('bdi', {}, showAddress(inquiry.email));
  if (!canMail(inquiry)) return ['The answer is recorded and mailed to nobody.'];
  if (mail === 'none') {
    return ['This stage sends no mail: the answer is recorded, and ', owner, ' does not get it.'];
  }
  const condition = ' if this stage sends mail, which your credentials do not tell.';
  return ['The reply is mailed to ', owner, mail === 'sent' ? '.' : condition];
}

/** A reply that was not sent because someone else has answered. */
export const createUnsentBox = (draft: string, onDelete: () => void): HTMLElement[] => [
  h('label', { for: 'unsent' }, 'Your text, which was not sent'),
  h('textarea', { id: 'unsent', dir: 'auto', readonly: true }, draft),
  button('Delete this text', {}, onDelete),
];
