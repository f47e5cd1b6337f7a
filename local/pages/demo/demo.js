/* The sign-in of the demo page (authorization code with PKCE, RFC 7636), and what it does with <inquiry-form>. */
const { issuer, clientId: client_id } = document.body.dataset;
const users = new oidc.UserManager({
  authority: issuer,
  client_id,
  redirect_uri: `${location.origin}/`,
  scope: 'openid email',
  automaticSilentRenew: false,
});
const form = document.querySelector('inquiry-form');
const session = document.querySelector('#session');

async function show() {
  session.textContent = (await users.getUser()) === null ? 'Sign in' : 'Sign out';
  form.refresh?.();
}

async function finishSignIn() {
  // An answer that this page did not ask for is ignored.
  if (location.search !== '') await users.signinCallback().catch(() => undefined);
  history.replaceState(null, '', '/');
  await show();
}

const finished = finishSignIn();
form.getToken = async (refused) => {
  await finished;
  const token = (await users.getUser())?.id_token;
  if (token === undefined || token !== refused) return token;
  await users.removeUser();
  await show();
  return undefined;
};
form.branding = {
  topics: ['Order', 'Subscription', 'Brewing'],
  expectation: 'We answer within two working days.',
};
form.addEventListener('signin-required', () => void users.signinRedirect());
for (const name of ['sent', 'failed', 'signin-required']) {
  form.addEventListener(name, ({ detail }) => {
    const item = document.createElement('p');
    item.textContent = `${name} ${JSON.stringify(detail, ['id', 'kind', 'mayBeDone'])}`;
    document.querySelector('[role=log]').prepend(item);
  });
}
async function toggleSession() {
  if ((await users.getUser()) === null) return users.signinRedirect();
  await users.removeUser();
  return show();
}
session.addEventListener('click', () => void toggleSession());
