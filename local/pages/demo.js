const users = new oidc.UserManager({
  authority: 'http://127.0.0.1:3001',
  client_id: 'inquiries-local',
  redirect_uri: `${location.origin}/`,
  scope: 'openid email',
});
// The result of a sign-in that this page did not start is ignored.
const returned = location.search === '' ? null : users.signinCallback().catch(() => null);
const form = document.querySelector('inquiry-form');
const session = document.querySelector('#session');
const signIn = () => void users.signinRedirect();
async function show() {
  const user = await users.getUser();
  session.textContent = user === null ? 'Sign in' : 'Sign out';
  form.refresh?.();
}
async function signOut() {
  await users.removeUser();
  await show();
}
form.getToken = async (refused) => {
  await returned;
  const token = (await users.getUser())?.id_token;
  if (token === undefined || token !== refused) return token;
  await signOut();
  return undefined;
};
form.branding = {
  topics: ['Order', 'Brewing'],
  expectation: 'We answer within two working days.',
};
form.addEventListener('signin-required', signIn);
session.addEventListener('click', () =>
  session.textContent === 'Sign in' ? signIn() : void signOut(),
);
form.addEventListener('sent', ({ detail }) => {
  document.querySelector('[role=status]').textContent = `sent: ${detail.id}`;
});
await returned;
history.replaceState(null, '', '/');
await show();
