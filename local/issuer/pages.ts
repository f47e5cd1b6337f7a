/** HTML of the local issuer's pages: its settings, sign-in, errors. They have no script and load nothing. */
import { escapeHtml } from '../../src/mailer/text.ts';
import { hashOf } from '../../lib/page-server.ts';
import { CLIENT_ID, DEMO_USERS } from '../../lib/issuer-tokens.ts';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
:root { background: light-dark(#f3f4f8, #12141b); color: light-dark(#1b1e28, #eceef4); }
* { box-sizing: border-box; }
main { max-width: 48rem; margin: 6vh auto; padding: 2rem; border-radius: 1rem; overflow-wrap: anywhere; }
main { background: light-dark(#fff, #1c1f29); }
main:has(form) { max-width: 28rem; }
@media (max-width: 30rem) {
  :root { background: light-dark(#fff, #1c1f29); }
  main { margin: 0; padding: 0.75rem; }
}
h1 { margin: 0; line-height: 1.25; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1rem; }
input, button { display: block; width: 100%; min-height: 2.75rem; margin-top: 0.5rem; padding: 0.5rem 0.875rem;
  border: 1px solid light-dark(#878ea0, #737b90); border-radius: 0.625rem; background: none; color: inherit;
  font: inherit; text-align: start; }
button { cursor: pointer; }
button:hover { background: light-dark(#eceef9, #2b3042); }
.primary, .quiet { font-weight: 600; text-align: center; }
.primary, .primary:hover { border-color: transparent; background: light-dark(#3f4fd0, #a3b0ff); color: light-dark(#fff, #141726); }
.quiet { border-color: transparent; }
.quiet, a { color: light-dark(#3f4fd0, #a3b0ff); }
:focus-visible { outline: 3px solid light-dark(#3f4fd0, #a3b0ff); outline-offset: 2px; }
label { display: block; margin-top: 1.5rem; }
label, dt { font-weight: 600; }
dd { margin: 0 0 0.5rem; }
[role='alert'] { margin: 0.5rem 0 0; color: light-dark(#b3261e, #ffb4ab); }`;

/** Content of the sign-in page, as plain text; it is escaped here. */
interface SignIn {
  /** URL path that the forms post to: fields `email` or `cancel`. */
  readonly action: string;
  /** Host of the app that the user returns to. */
  readonly returnTo: string;
  /** Value of the e-mail field: the login hint or the rejected input. */
  readonly email: string;
  /** Why the input was rejected. */
  readonly problem: string | undefined;
}

export function signInPage({ action, returnTo, email, problem }: SignIn): string {
  const form = (content: string) =>
    `<form method="post" action="${escapeHtml(action)}">${content}</form>`;
  const users = DEMO_USERS.map((user) => `<button name="email" value="${user}">${user}</button>`);
  const invalid = 'autofocus aria-invalid="true" aria-describedby="problem"';
  const alert = `<p id="problem" role="alert">${escapeHtml(problem ?? '')}</p>`;
  return layout(
    'Sign in',
    `<p>Choose who you are, and you go back to <strong>${escapeHtml(returnTo)}</strong>, signed in. This is the sign-in
of the local stack: it asks for no password.</p>
<h2>A user for trying out</h2>
${form(users.join('\n'))}
${form(`<label for="email">Another e-mail address</label>
<input id="email" name="email" type="email" value="${escapeHtml(email)}" maxlength="254" autocomplete="off" dir="auto"
required ${problem === undefined ? '' : invalid}>
${problem === undefined ? '' : alert}
<button class="primary">Sign in</button>`)}
${form('<button class="quiet" name="cancel" value="1">Cancel and go back</button>')}`,
  );
}

/** A page with one sentence, for errors. */
export const messagePage = (title: string, text: string): string =>
  layout(title, `<p>${escapeHtml(text)}</p><p><a href="/">Settings of this issuer</a></p>`);

/** The settings that an app needs, and how to register another app. */
export function settingsPage(
  url: string,
  { redirectUris, logoutUris }: Readonly<Record<'redirectUris' | 'logoutUris', readonly string[]>>,
): string {
  const discovery = '/.well-known/openid-configuration';
  return layout(
    'Local issuer',
    `<p>The OpenID Connect issuer of the local stack, in place of a user pool. Any e-mail address signs in, without a
password; the same spelling always gets the same ${code('sub')}.</p>
${definitions({
  Issuer: code(url),
  Discovery: `<a href="${discovery}">${code(url + discovery)}</a>`,
  'Client id': code(CLIENT_ID),
  'Client type': 'public: authorization code with PKCE (S256), no client secret',
  Scope: `${code('openid')}; send the API the ID token, not the access token`,
  'Redirect addresses': list(redirectUris),
  'Sign-out addresses': list(logoutUris),
  'Another app': code('npm start -- --cors-origin http://localhost:5173'),
  'A token without the sign-in page': code('npm run --silent token -- --email ana@example.com'),
})}`,
  );
}

/**
 * Content-Security-Policy of every page: only the inline style, by its hash. Chromium applies `form-action` to each
 * redirect after a post (https://github.com/w3c/webappsec-csp/issues/8), so it also names the app's origin.
 */
export function contentSecurityPolicy(...formTargets: string[]): string {
  const targets = ["'self'", ...formTargets].join(' ');
  return `default-src 'none'; style-src ${hashOf(STYLE)}; img-src data:; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`;
}

const code = (text: string) => `<code>${escapeHtml(text)}</code>`;
const list = (texts: readonly string[]) => texts.map(code).join('<br>') || 'none';

/** @param terms - Texts, and what each means as HTML. */
const definitions = (terms: Readonly<Record<string, string>>): string =>
  `<dl>${Object.entries(terms)
    .map(([term, html]) => `<dt>${escapeHtml(term)}</dt><dd>${html}</dd>`)
    .join('\n')}</dl>`;

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
