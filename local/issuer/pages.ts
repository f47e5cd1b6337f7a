/** HTML of the local issuer's pages: its settings, sign-in, errors. They have no script and load nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../../src/mailer/text.ts';
import { hashOf } from '../../lib/page-server.ts';
import { CLIENT_ID, DEMO_USERS } from '../../lib/issuer-tokens.ts';

const STYLE = readFileSync(join(import.meta.dirname, '../pages/docs/page.css'), 'utf8');

/**
 * The sign-in.
 *
 * @param returnTo - Host of the app that the user returns to.
 * @param email - Value of the e-mail field: the login hint.
 */
export function signInPage(returnTo: string, email: string): string {
  const users = DEMO_USERS.map((user) => `<button name="email" value="${user}">${user}</button>`);
  return layout(
    'Sign in',
    `<p>Choose who you are, and you go back to <strong>${escapeHtml(returnTo)}</strong>, signed in. This is the sign-in
of the local stack: it asks for no password.</p>
<form method="post">
<h2>A user for trying out</h2>
${users.join('\n')}
</form>
<form method="post">
<label for="email">Another e-mail address</label>
<input id="email" name="email" type="email" value="${escapeHtml(email)}" maxlength="254" autocomplete="off" dir="auto" required>
<button class="primary">Sign in</button>
</form>
<form method="post"><button name="cancel" value="1">Cancel and go back</button></form>`,
  );
}

/** A page with one sentence, for errors. */
export const messagePage = (title: string, text: string): string =>
  layout(title, `<p>${escapeHtml(text)}</p><p><a href="/">Settings of this issuer</a></p>`);

/** The settings that an app needs. */
export function settingsPage(
  url: string,
  redirectUris: readonly string[],
  logoutUris: readonly string[],
): string {
  const rows = {
    Issuer: url,
    'Client id, without a secret: authorization code with PKCE': CLIENT_ID,
    'Redirect addresses; npm start -- --cors-origin ORIGIN adds those of another app':
      redirectUris.join(' '),
    'Sign-out addresses': logoutUris.join(' '),
  };
  const list = Object.entries(rows).map(
    ([term, value]) => `<dt>${term}</dt><dd><code>${escapeHtml(value)}</code></dd>`,
  );
  return layout(
    'Local issuer',
    `<p>The OpenID Connect issuer of the local stack, in place of a user pool. Any e-mail address signs in, without a
password. Send the API the ID token, not the access token.</p>
<dl>${list.join('\n')}</dl>
<p><a href="/.well-known/openid-configuration">Discovery document</a></p>`,
  );
}

/**
 * Content-Security-Policy of every page: only the inline style, by its hash. Chromium applies `form-action` to each
 * redirect after a post (https://github.com/w3c/webappsec-csp/issues/8), so it also names the app's origin.
 */
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
