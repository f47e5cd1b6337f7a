/** The fields of an inquiry, and what is said about its size. */
import { inLanguage } from '../../src/languages.ts';
import { ITEM_LIMIT } from '../../src/limits.ts';
import { toMailbox } from '../../src/mailbox.ts';
import { div, h } from '../ui/dom.ts';
import { directionOf } from '../ui/format.ts';
import { isolate } from './bidi.ts';
import type { Texts } from './drafts.ts';
import { describeSize } from './messages.ts';
import { measure } from './size.ts';
import { topicMenu } from './topics.ts';
import type { ViewParts } from './view-parts.ts';

/** @param onTooLarge - Called when the texts have become larger than the service stores. */
export function createEditor(
  { user, locale, branding }: Pick<ViewParts, 'user' | 'locale' | 'branding'>,
  texts: Texts,
  onTooLarge: () => void,
) {
  const { form: strings } = locale.strings;
  /** Whether it was to be sent without any text. */
  let isMissing = false;
  let level = measure('', '').level;

  const subject = h('input', { id: 'subject', type: 'text', autocomplete: 'off' });
  const body = h('textarea', {
    id: 'body',
    rows: '8',
    'aria-describedby': 'size',
    'aria-keyshortcuts': 'Control+Enter Meta+Enter',
  });
  const meter = h('span', { class: 'meter', 'aria-hidden': 'true' });
  const size = h('p', { class: 'size', id: 'size', role: 'status' });
  const topics = topicMenu(branding.topics, locale, subject);
  const element = h(
    'div',
    {},
    h('h1', { id: 'form-title' }, strings.title),
    h('p', { class: 'lead' }, inLanguage(branding.introduction ?? strings.lead, locale.language)),
    toMailbox(user.email) === undefined
      ? div(
          'notice',
          h('p', {}, locale.join(strings.noMail(isolate(user.email)), strings.reachable)),
        )
      : undefined,
    topics?.element,
    div('field', h('label', { for: 'subject' }, strings.subject), subject),
    div('field', h('label', { for: 'body' }, strings.message), body, meter, size),
  );

  /** Shows topic, size and direction of the texts. */
  const update = (): void => {
    // dir=auto would make each keystroke in a text of 400 KB take a second.
    for (const field of [subject, body]) field.dir = directionOf(field.value);
    const measured = measure(subject.value, body.value);
    const wasOver = level === 'over';
    level = measured.level;
    meter.style.setProperty('--share', String(Math.min(1, measured.bytes / ITEM_LIMIT)));
    element.dataset['level'] = level;
    const text = isMissing ? strings.empty : describeSize(locale, measured);
    if (size.textContent !== text) size.textContent = text;
    body.ariaInvalid = level === 'over' || isMissing ? 'true' : null;
    topics?.update();
    if (level !== 'over' || wasOver) return;
    onTooLarge();
    // It is below a text that may fill the window.
    size.scrollIntoView({ block: 'nearest' });
  };

  const write = (next: Texts): void => {
    subject.value = next.subject;
    body.value = next.body;
    update();
  };

  element.addEventListener('input', () => {
    isMissing = false;
    update();
  });
  write(texts);

  return {
    element,
    read: (): Texts => ({ subject: subject.value, body: body.value }),
    write,
    hasText: (): boolean => subject.value !== '' || body.value !== '',
    /** Whether the texts can be sent. A topic is not a message. Says why not. */
    validate(isRefused: boolean): boolean {
      const hasSubject = topics === undefined ? subject.value.trim() !== '' : !topics.isAlone();
      isMissing = !hasSubject && body.value.trim() === '';
      if (!isMissing && !isRefused && measure(subject.value, body.value).level !== 'over') {
        return true;
      }
      body.focus();
      size.scrollIntoView({ block: 'nearest' });
      // So that it is announced again.
      size.textContent = '';
      update();
      return false;
    },
    lock(isLocked: boolean): void {
      subject.readOnly = isLocked;
      body.readOnly = isLocked;
    },
    focusFirst: () => subject.focus(),
    focusMessage: () => body.focus(),
  };
}
