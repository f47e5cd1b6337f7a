import { html } from 'hono/html';
import { ASSETS } from './assets.ts';
import type { Markup, Times } from './texts.ts';

export interface View {
  stage: string;
  /** Who is signed in; undefined: nobody that is known. */
  member?: string | undefined;
  canSignOut: boolean;
  times: Times;
}

export const TABS = {
  unanswered: { title: 'Unanswered', path: '/', key: 'u' },
  answered: { title: 'Answered', path: '/?show=answered', key: 'n' },
  all: { title: 'All', path: '/?show=all', key: 'a' },
  undelivered: { title: 'Came back', path: '/?show=undelivered', key: 'b' },
  search: { title: 'Search', path: '/search', key: 's' },
} as const;

export type Tab = keyof typeof TABS;

export const SIGN_OUT = html`<form method="post" action="/sign-out">
  <button class="quiet">Sign out</button>
</form>`;

/** Without scripts, a list is loaded again each minute. */
const REFRESH = html`<noscript><meta http-equiv="refresh" content="60" /></noscript>`;

export function layout(
  { stage, member, canSignOut }: View,
  { title, tab, isList = false }: { title: string; tab?: Tab | undefined; isList?: boolean },
  main: Markup,
): Markup {
  const links = Object.entries(TABS).map(
    ([name, { title: label, path, key }]) =>
      html`<a href="${path}" accesskey="${key}" ${name === tab && html`aria-current="page"`}
        >${label}</a
      >`,
  );
  const account = html`<nav aria-label="Inquiries">${links}</nav>
    <div class="who">
      <bdi title="Answers are stored as ${member}">${member}</bdi>${canSignOut && SIGN_OUT}
    </div>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Inbox of ${stage}</title>
        <link rel="icon" href="${ASSETS['favicon.svg'].href}" type="image/svg+xml" />
        <link rel="stylesheet" href="${ASSETS['style.css'].href}" />
        <script type="module" src="${ASSETS['script.js'].href}"></script>
        ${isList && REFRESH}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <p class="brand">
            <img src="${ASSETS['favicon.svg'].href}" alt="" width="24" height="24" />Inbox
          </p>
          <span class="stage">${stage}</span>
          ${member !== undefined && account}
        </header>
        <main id="main" tabindex="-1">${main}</main>
      </body>
    </html>`;
}
