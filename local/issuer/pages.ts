import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../../text/visible.ts';
import { hashOf } from '../../lib/pages/page-server.ts';

const STYLE = readFileSync(join(import.meta.dirname, '../pages/page.css'), 'utf8');

export const signInPage = (returnTo: string, users: readonly string[]): string =>
  layout(
    'Sign in',
    `<p>Choose who you are, and you go back to <strong>${escapeHtml(returnTo)}</strong>, signed in. This is the sign-in
of the local stack: it asks for no password.</p>
<form method="post">
<h2>Users for trying out</h2>
${users.map((user) => `<button name="email" value="${user}">${user}</button>`).join('\n')}
</form>
<form method="post">
<label for="email">Another e-mail address</label>
<input id="email" name="email" type="email" maxlength="254" autocomplete="off" dir="auto" required>
<button class="primary">Sign in</button>
</form>
<form method="post"><button name="cancel">Cancel and go back</button></form>`,
  );

export const messagePage = (title: string, ...texts: string[]): string =>
  layout(
    title,
    `${texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}<p><a href="/">Settings of this issuer</a></p>`,
  );

/** Chromium applies `form-action` to redirects (https://github.com/w3c/webappsec-csp/issues/8). */
export const contentSecurityPolicy = (formTarget: string): string =>
  `default-src 'none'; style-src ${hashOf(STYLE)}; img-src data:; form-action 'self' ${formTarget}; base-uri 'none'; frame-ancestors 'none'`;

const layout = (title: string, main: string): string => `<!doctype html>
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
