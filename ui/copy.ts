import { button } from './dom.ts';

/** Milliseconds. */
const SAY_COPIED_FOR = 2_000;

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
    setTimeout(() => (control.textContent = label), SAY_COPIED_FOR);
  });
  return control;
}
