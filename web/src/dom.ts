/** Creates elements without markup. docs/adr/0073 */
import type { Message } from './languages/en.ts';

type Child = Node | string | undefined;
type Attributes = Record<string, string | boolean | undefined>;

/** `true` sets an attribute without a value, `false` and undefined omit it. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? '' : value);
    }
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

export const div = (classes: string, ...children: readonly Child[]): HTMLDivElement =>
  h('div', { class: classes }, ...children);

export const p = (classes: string, ...children: readonly Child[]): HTMLParagraphElement =>
  h('p', { class: classes }, ...children);

/** A region whose changes screen readers announce. */
export const live = (role: 'alert' | 'status'): HTMLDivElement => h('div', { class: 'live', role });

/** Keeps the focus, and ignores clicks while its action runs. */
export function button(
  label: string,
  attributes: Attributes,
  action: () => Promise<void> | void,
): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', () => {
    if (element.ariaDisabled === 'true') return;
    const running = action();
    if (running === undefined) return;
    setBusy(element, true);
    void running.finally(() => setBusy(element, false));
  });
  return element;
}

/** Unlike a `disabled` element, it keeps the focus. */
export function setBusy(element: HTMLElement, busy: boolean): void {
  element.ariaDisabled = busy ? 'true' : null;
}

/** Safari tells the key that ends a composition by its code alone. */
export const isComposing = ({ isComposing: is, keyCode }: KeyboardEvent): boolean =>
  is || keyCode === 229;

export function notice(
  kind: 'bad' | 'plain',
  { title, text, english }: Message,
  ...more: readonly Child[]
): HTMLElement {
  return div(
    `notice ${kind}`,
    p('notice-title', title),
    text === undefined ? undefined : h('p', {}, text),
    english === undefined ? undefined : h('p', { lang: 'en', dir: 'ltr' }, english),
    ...more,
  );
}

/** Resolves to undefined when it is dismissed. */
export async function ask<Answer extends string>(
  place: Element,
  { title, text }: { title: string; text: string },
  answers: readonly (readonly [answer: Answer, label: string])[],
): Promise<Answer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
  const choices = answers.map(([answer, label], index) =>
    button(label, { class: index === 0 && 'primary' }, () => {
      resolve(answer);
      dialog.close();
    }),
  );
  const dialog: HTMLDialogElement = h(
    'dialog',
    { 'aria-labelledby': 'question', 'aria-describedby': 'question-text' },
    h('h2', { id: 'question' }, title),
    h('p', { id: 'question-text' }, text),
    div('actions', ...choices),
  );
  dialog.addEventListener('close', () => {
    resolve(undefined);
    dialog.remove();
  });
  place.append(dialog);
  dialog.showModal();
  return promise;
}

const SAY_COPIED_MS = 2_000;

/** @param say - Announces the outcome. */
export function copyButton(
  label: string,
  text: string,
  attributes: Parameters<typeof button>[1],
  { copied, notCopied }: { copied: string; notCopied: string },
  say: (text: string) => unknown,
): HTMLButtonElement {
  const control = button(label, attributes, async () => {
    // Rejects or is absent where the browser forbids it.
    const outcome = await (async () => navigator.clipboard.writeText(text))().then(
      () => copied,
      () => notCopied,
    );
    say(outcome);
    control.textContent = outcome;
    setTimeout(() => (control.textContent = label), SAY_COPIED_MS);
  });
  return control;
}
