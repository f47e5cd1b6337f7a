import { html } from 'hono/html';
import { layout, SIGN_OUT, type View } from './layout.ts';
import type { Markup } from './texts.ts';

export const notice = (kind: 'bad' | 'plain', title: string, text: Markup | string): Markup =>
  html`<div class="notice ${kind}">
    <p class="notice-title">${title}</p>
    <p>${text}</p>
  </div>`;

/** Browsers leave out the first line end in a `textarea`. */
export const textBox = (id: string, attributes: Markup, text = ''): Markup =>
  html`<textarea dir="auto" data-draft="${id}" ${attributes}>${`\n${text}`}</textarea>`;

/** Shows a text that was not sent. Without one, the script shows the tab's draft. */
export const keptText = (id: string, text = ''): Markup =>
  html`<section class="unsent" ${text === '' && html`hidden`}>
    <label for="unsent">Your text, which was not sent</label>
    ${textBox(id, html`id="unsent" rows="6"`, text)}
    <p class="actions">
      <button type="button" data-copy="unsent" hidden>Copy</button>
      <span class="hint">Copy it, or delete it here.</span>
    </p>
  </section>`;

export interface Problem {
  title: string;
  text: string;
  /** The inquiry's. */
  id?: string | undefined;
  kept?: string | undefined;
  /** Whether the same request can succeed later. */
  canRepeat?: boolean;
  link?: { href: string; label: string };
  canSignOut?: boolean;
}

/** Says what happened and what to do. Nothing was recorded, and no text is lost. */
export function problemPage(view: View, problem: Problem): Markup {
  const { title, text, id, kept, canRepeat = false, link, canSignOut } = problem;
  // A new tab leaves the text in this one. The script keeps the text and removes `target`.
  const anchor =
    link &&
    html`<p>
      <a class="button" href="${link.href}" ${kept !== undefined && html`target="_blank"`}
        >${link.label}</a
      >
    </p>`;
  const again = html`<form class="unsent" method="post" action="/inquiries/${id}/reply">
    <label for="reply">Your text, which was not sent</label>
    ${textBox(id ?? '', html`id="reply" name="reply" rows="8"`, kept)}
    <p class="actions"><button class="primary">Send it again</button></p>
  </form>`;
  const main = html`<div class="problem">
    <h1>${title}</h1>
    <p class="lead">${text}</p>
    ${anchor}${canSignOut && SIGN_OUT}
    ${id !== undefined && (canRepeat && kept !== undefined ? again : keptText(id, kept))}
  </div>`;
  return layout(view, { title }, main);
}
