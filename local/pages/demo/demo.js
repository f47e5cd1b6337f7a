/* The sign-in of the demo page (authorization code with PKCE, RFC 7636), and what it does with <inquiry-form>. */
const { issuer, clientId: client_id } = document.body.dataset;
const redirect_uri = `${location.origin}/`;
const form = document.querySelector('inquiry-form');
const session = document.querySelector('#session');

const encode = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

async function signIn() {
  const code_verifier = encode(crypto.getRandomValues(new Uint8Array(32)));
  const state = crypto.randomUUID();
  sessionStorage.setItem('shop.sign-in', JSON.stringify({ code_verifier, state }));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(code_verifier));
  const code_challenge = encode(new Uint8Array(hash));
  const request = { client_id, redirect_uri, state, code_challenge, code_challenge_method: 'S256' };
  const query = new URLSearchParams({ ...request, response_type: 'code', scope: 'openid email' });
  location.assign(`${issuer}/oauth2/authorize?${query}`);
}

async function finishSignIn() {
  const query = new URLSearchParams(location.search);
  const { code_verifier, state } = JSON.parse(sessionStorage.getItem('shop.sign-in') ?? '{}');
  if (!query.has('code') || query.get('state') !== state) return;
  history.replaceState(null, '', '/');
  const request = {
    grant_type: 'authorization_code',
    code: query.get('code'),
    client_id,
    redirect_uri,
    code_verifier,
  };
  const response = await fetch(`${issuer}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(request),
  });
  if (response.ok) sessionStorage.setItem('shop.token', (await response.json()).id_token);
}

function show() {
  session.textContent = sessionStorage.getItem('shop.token') === null ? 'Sign in' : 'Sign out';
  form.refresh?.();
}

const finished = finishSignIn().finally(show);
form.getToken = async (refused) => {
  await finished;
  const token = sessionStorage.getItem('shop.token');
  if (token !== refused) return token;
  sessionStorage.removeItem('shop.token');
  show();
  return undefined;
};
form.branding = {
  topics: ['Order', 'Subscription', 'Brewing'],
  expectation: 'We answer within two working days.',
};
form.addEventListener('signin-required', () => void signIn());
for (const name of ['sent', 'failed', 'signin-required']) {
  form.addEventListener(name, ({ detail }) => {
    const item = document.createElement('p');
    item.textContent = `${name} ${JSON.stringify(detail, ['id', 'kind', 'mayBeDone'])}`;
    document.querySelector('[role=log]').prepend(item);
  });
}
session.addEventListener('click', () => {
  if (sessionStorage.getItem('shop.token') === null) return void signIn();
  sessionStorage.removeItem('shop.token');
  return show();
});
