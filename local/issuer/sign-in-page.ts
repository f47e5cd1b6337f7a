/** HTML of the local issuer's pages: its settings, sign-in, errors. They have no script and load nothing. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../../src/mailer/text.ts';
import { CLIENT_ID, DEMO_USERS, subOf } from './tokens.ts';

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

const userButton = (name: string) =>
  `<button name="email" value="${escapeHtml(name)}">${escapeHtml(name)}</button>`;

export function signInPage({ action, returnTo, email, problem }: SignIn): string {
  const form = (content: string) => `<form method="post" action="${escapeHtml(action)}">${content}</form>`;
  const invalid = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  return layout(
    'Sign in',
    `<p>This is the sign-in of the local stack: no password is needed. Choose a user for
<strong>${escapeHtml(returnTo)}</strong>.</p>
${form(`<div role="group" aria-label="Demo users">${DEMO_USERS.map(userButton).join('')}</div>`)}
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

/** What is registered with the issuer. */
export interface Registered {
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
}

/** The settings that an app needs, and how to register another app. */
export function settingsPage(
  url: string,
  endpoints: Readonly<Record<string, string>>,
  { redirectUris, logoutUris }: Registered,
): string {
  const link = (path: string) => `<a href="${escapeHtml(path)}">${code(url + path)}</a>`;
  return layout(
    'Local issuer',
    `<p>The OpenID Connect issuer of the local stack, in place of a user pool.</p>
<section>
<h2>Your app</h2>
${definitions({
  Issuer: code(url),
  Discovery: link('/.well-known/openid-configuration'),
  'Client id': code(CLIENT_ID),
  'Client type': 'public: authorization code with PKCE (S256), no client secret',
  Scope: `${code('openid')}; send the API the ID token, not the access token`,
  'Redirect addresses': list(redirectUris),
  'Sign-out addresses': list(logoutUris),
})}
</section>
<section>
<h2>Another app</h2>
<p>Start the stack with the origin of your app. Its ${code('/')} and ${code('/callback')} become redirect addresses, and
its pages may call the API.</p>
${command(corsOriginCommand(EXAMPLE_ORIGIN))}
</section>
<section>
<h2>Users</h2>
<p>Any e-mail address signs in, without a password. The same spelling always gets the same ${code('sub')}.</p>
${definitions(Object.fromEntries(DEMO_USERS.map((user) => [user, code(subOf(user))])))}
<p>An ID token without the sign-in page:</p>
${command(`npm run --silent token -- --email ${DEMO_USERS[0]}`)}
</section>
<section>
<h2>Endpoints</h2>
${definitions(Object.fromEntries(Object.entries(endpoints).map(([name, path]) => [name, code(url + path)])))}
</section>`,
    'wide',
  );
}

/** The error page for a redirect URI that is missing or not registered. */
export function redirectPage(sent: string | undefined, { redirectUris }: Registered): string {
  const title = sent === undefined ? 'Redirect address missing' : 'Redirect address not registered';
  const subject =
    sent === undefined
      ? `<p>The app sent no ${code('redirect_uri')}.</p>`
      : `<p>The app sent this ${code('redirect_uri')}:</p><p>${code(sent)}</p>`;
  const registered = `<section><h2>Registered</h2>${list(redirectUris)}</section>`;
  return layout(title, subject + adviceFor(sent, redirectUris) + registered, 'wide');
}

function adviceFor(sent: string | undefined, redirectUris: readonly string[]): string {
  const url = sent === undefined ? null : URL.parse(sent);
  if (url === null || !/^https?:$/.test(url.protocol) || !LOOPBACK.test(url.hostname)) {
    return `<p>The addresses of an app on this machine are registered with an option of the stack:</p>
${command(corsOriginCommand(EXAMPLE_ORIGIN))}`;
  }
  const { origin } = url;
  const home = `${origin}/`;
  const paths = [home, `${home}callback`];
  const returnTo = `<p>Of an origin, only two addresses are registered, without a query: ${paths.map(code).join(' and ')}.</p>`;
  if (redirectUris.includes(home)) return returnTo;
  return `<p>Start the stack with this option, besides those that it has now:</p>
${command(corsOriginCommand(origin))}
${paths.includes(url.href) ? '' : returnTo}`;
}

const LOOPBACK = /^(.+\.)?localhost$|^127\.|^\[::1\]$/;
const EXAMPLE_ORIGIN = 'http://localhost:5173';
const corsOriginCommand = (origin: string) => `npm start -- --cors-origin ${origin}`;

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

const code = (text: string) => `<code>${escapeHtml(text)}</code>`;
const command = (text: string) => `<pre>${code(text)}</pre>`;
const list = (texts: readonly string[]) =>
  texts.length === 0 ? 'none' : `<ul>${texts.map((text) => `<li>${code(text)}</li>`).join('')}</ul>`;

/** @param terms - Texts, and what each means as HTML. */
function definitions(terms: Readonly<Record<string, string>>): string {
  const rows = Object.entries(terms).map(([term, html]) => `<dt>${escapeHtml(term)}</dt><dd>${html}</dd>`);
  return `<dl>${rows.join('\n')}</dl>`;
}

function layout(title: string, main: string, width: 'narrow' | 'wide' = 'narrow'): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)} · local stack</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body class="${width}">
<main>
<h1>${escapeHtml(title)}</h1>
${main}
</main>
</body>
</html>
`;
}

const STYLE = readFileSync(join(import.meta.dirname, 'sign-in-page.css'), 'utf8');
const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
