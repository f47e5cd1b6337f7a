/** HTML of the local issuer's pages: sign-in, errors, signed out. They have no script and load nothing. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_USERS } from './tokens.ts';

/** Content of the sign-in page, as plain text; it is escaped here. */
interface SignIn {
  /** URL path that the forms post to: fields `email` or `cancel`. */
  readonly action: string;
  /** Host of the app that the user returns to. */
  readonly returnTo: string;
  /** Value of the e-mail field: the login hint or the rejected input. */
  readonly email: string;
  /** Why the input was rejected. */
  readonly problem?: string;
}

export function signInPage({ action, returnTo, email, problem }: SignIn): string {
  const form = (content: string) => `<form method="post" action="${escapeHtml(action)}">${content}</form>`;
  const user = (name: string) =>
    `<button name="email" value="${escapeHtml(name)}">${escapeHtml(name)}</button>`;
  const invalid = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  return layout(
    'Sign in',
    `<p>This is the sign-in of the local stack: no password is needed. Choose a user for
<strong>${escapeHtml(returnTo)}</strong>.</p>
${form(`<div role="group" aria-label="Demo users">${DEMO_USERS.map(user).join('')}</div>`)}
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

const STYLE = readFileSync(join(import.meta.dirname, 'sign-in-page.css'), 'utf8');
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
