/** HTML of the local issuer's pages: sign-in, errors, signed out. They have no script and load nothing. */
import { createHash } from 'node:crypto';

/** Content of the sign-in page, as plain text; it is escaped here. */
interface SignIn {
  /** URL path that the forms post to: fields `email` or `cancel`. */
  readonly action: string;
  /** Host of the app that the user returns to. */
  readonly returnTo: string;
  /** E-mail addresses offered as buttons. */
  readonly users: readonly string[];
  /** Value of the e-mail field: the login hint or the rejected input. */
  readonly email: string;
  /** Why the input was rejected. */
  readonly problem?: string;
}

export function signInPage({ action, returnTo, users, email, problem }: SignIn): string {
  const form = (content: string) => `<form method="post" action="${escapeHtml(action)}">${content}</form>`;
  const user = (name: string) =>
    `<button name="email" value="${escapeHtml(name)}">${escapeHtml(name)}</button>`;
  const invalid = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  return layout(
    'Sign in',
    `<p>This is the sign-in of the local stack: no password is needed. Choose a user for
<strong>${escapeHtml(returnTo)}</strong>.</p>
${form(`<div role="group" aria-label="Demo users">${users.map(user).join('')}</div>`)}
${form(`<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="${escapeHtml(email)}" placeholder="you@example.com" maxlength="254"
autocomplete="off" spellcheck="false" required autofocus${invalid}>
${problem === undefined ? '' : `<p id="problem" role="alert">${escapeHtml(problem)}</p>`}
<button class="primary">Sign in</button>`)}
${form('<button name="cancel" value="1">Cancel</button>')}`,
  );
}

/** A page with one sentence, for errors. */
export function messagePage(title: string, text: string): string {
  return layout(title, `<p>${escapeHtml(text)}</p>`);
}

/**
 * Content-Security-Policy of every page: only the inline style, by its hash. Chromium applies `form-action` to each
 * redirect after a post (https://github.com/w3c/webappsec-csp/issues/8), so it also names the app's origin.
 */
export function contentSecurityPolicy(...formTargets: string[]): string {
  return [
    "default-src 'none'",
    `style-src '${STYLE_HASH}'`,
    'img-src data:',
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function layout(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · local stack</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${main}
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root { color-scheme: light dark; --page: light-dark(#f3f4f8, #12141b); --card: light-dark(#fff, #1c1f29);
  --text: light-dark(#1b1e28, #eceef4); --line: light-dark(#878ea0, #737b90); --tint: light-dark(#eceffb, #272c3b);
  --accent: light-dark(#3f4fd0, #a3b0ff); --bad: light-dark(#b3261e, #ffb4ab) }
* { box-sizing: border-box; margin: 0 }
body { min-height: 100vh; display: grid; grid-template-columns: minmax(0, 25rem); place-content: center; padding: 1rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { display: grid; gap: 1.25rem; padding: 2rem; border-radius: 1rem; background: var(--card) }
h1 { font-size: 1.75rem; line-height: 1.2 }
strong, button, [role=alert] { overflow-wrap: anywhere }
[role=group] { display: grid; gap: .5rem }
label { font-weight: 600 }
input, button { width: 100%; min-height: 2.75rem; padding: .5rem .875rem; border: 1px solid var(--line);
  border-radius: .625rem; background: var(--card); color: inherit; font: inherit }
input { margin: .375rem 0 .875rem }
input[aria-invalid] { border-color: var(--bad) }
[role=alert] { margin-bottom: .875rem; color: var(--bad) }
button { cursor: pointer }
button:hover { background: var(--tint) }
.primary, .primary:hover { border-color: transparent; background: var(--accent); color: var(--card); font-weight: 600 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`;

const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
