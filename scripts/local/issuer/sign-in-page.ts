/**
 * The pages of the local issuer, as strings: sign-in, errors, signed out. No script, no request to anywhere.
 */
import { createHash } from 'node:crypto';

/** What the sign-in page shows; every string is escaped here, so callers pass raw text. */
interface SignIn {
  /** Where the forms post to: fields `email` or `cancel`. */
  action: string;
  /** Host the user goes back to once signed in. */
  returnTo: string;
  /** Users offered as one-click buttons. */
  users: readonly string[];
  /** What stands in the e-mail field: the login hint, or what was typed last. */
  email?: string;
  /** Why the last attempt was refused. */
  problem?: string;
}

/** The sign-in page of the local stack: three plain forms, no script. */
export function signInPage({ action, returnTo, users, email = '', problem }: SignIn): string {
  const form = (content: string) => `<form method="post" action="${escapeHtml(action)}">${content}</form>`;
  const user = (name: string) =>
    `<button class="user" name="email" value="${escapeHtml(name)}">` +
    `<span aria-hidden="true">${escapeHtml(name.slice(0, 1).toUpperCase())}</span>${escapeHtml(name)}</button>`;
  const invalid = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  return layout(
    'Sign in',
    `<p>This is the local stack’s own sign-in: no password is needed. Choose who you are on
<strong>${escapeHtml(returnTo)}</strong>.</p>
${form(`<div class="users" role="group" aria-label="Demo users">${users.map(user).join('')}</div>`)}
<p class="or">or anyone else</p>
${form(`<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="${escapeHtml(email)}" placeholder="you@example.com" maxlength="254"
autocomplete="off" spellcheck="false" required autofocus${invalid}>
${problem === undefined ? '' : `<p class="problem" id="problem" role="alert">${escapeHtml(problem)}</p>`}
<button class="primary">Sign in</button>`)}
${form('<button class="quiet" name="cancel" value="1">Cancel</button>')}`,
  );
}

/** A page that only says something: errors and the end of a session. */
export function messagePage(title: string, text: string): string {
  return layout(title, `<p>${escapeHtml(text)}</p>`);
}

/**
 * Content-Security-Policy of every page here: nothing but the inline style, by its hash. Chromium applies
 * `form-action` to each redirect that follows a post (https://github.com/w3c/webappsec-csp/issues/8), so the
 * origins at which a sign-in ends have to be named.
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
<p class="badge">Local stack</p>
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
:root { color-scheme: light dark; --page: #f3f4f8; --card: #fff; --text: #1b1e28; --soft: #5b6172; --line: #878ea0;
  --tint: #eceffb; --accent: #3f4fd0; --on-accent: #fff; --bad: #b3261e;
  --shadow: 0 1px 2px #1b1e2814, 0 12px 32px #1b1e2814 }
@media (prefers-color-scheme: dark) { :root { --page: #12141b; --card: #1c1f29; --text: #eceef4; --soft: #a6adbf;
  --line: #737b90; --tint: #272c3b; --accent: #a3b0ff; --on-accent: #141726; --bad: #ffb4ab; --shadow: none } }
* { box-sizing: border-box; margin: 0 }
body { min-height: 100vh; display: grid; grid-template-columns: minmax(0, 25rem); place-content: center; padding: 1rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { padding: clamp(1.25rem, 6vw, 2rem); border-radius: 1rem; background: var(--card); box-shadow: var(--shadow) }
main > * + * { margin-top: 1.25rem }
h1 { margin-top: .75rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em }
h1 + p { margin-top: .5rem; color: var(--soft) }
strong { color: var(--text); overflow-wrap: anywhere }
.badge { width: fit-content; padding: .125rem .625rem; border-radius: 1rem; background: var(--tint); color: var(--accent);
  font-size: .8125rem; font-weight: 600 }
.users { display: grid; gap: .5rem }
label { display: block; margin-bottom: .375rem; font-weight: 600 }
input, button { width: 100%; min-height: 2.75rem; padding: .5rem .875rem; border: 1px solid var(--line); border-radius: .625rem;
  background: var(--card); color: inherit; font: inherit }
input::placeholder { color: var(--soft); opacity: 1 }
input[aria-invalid] { border-color: var(--bad) }
button { cursor: pointer; font-weight: 600 }
button:hover { background: var(--tint) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.user { display: flex; align-items: center; gap: .75rem; font-weight: 500; text-align: start;
  overflow-wrap: anywhere }
.user span { flex: none; width: 1.75rem; border-radius: 50%; background: var(--tint); color: var(--accent);
  font-size: .875rem; font-weight: 700; line-height: 1.75rem; text-align: center }
.or { display: flex; align-items: center; gap: .75rem; color: var(--soft); font-size: .875rem }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); opacity: .5 }
.problem { margin-top: .375rem; color: var(--bad); font-size: .9375rem; overflow-wrap: anywhere }
.primary { margin-top: .875rem; border-color: transparent; background: var(--accent); color: var(--on-accent) }
.primary:hover { background: var(--accent); filter: brightness(1.1) }
form + form { margin-top: .5rem }
.quiet { border-color: transparent; background: none; color: var(--soft) }
`;

const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
