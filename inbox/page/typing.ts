/** Ignores keys of somebody who may be typing. */

/** Milliseconds. */
const PAUSE = 2_000;

let last = -PAUSE;

/** After a key in a text, or when the page takes the focus from one. */
export const noteTyping = (): void => void (last = performance.now());

export const isTyping = (): boolean => performance.now() - last < PAUSE;

export const isTextBox = (element: Element | null): boolean =>
  element?.matches('input, textarea') ?? false;

export function focusGently(element: HTMLElement): void {
  if (!isTextBox(document.activeElement)) element.focus();
}
