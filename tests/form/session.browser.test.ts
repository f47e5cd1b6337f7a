import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { on } from './chromium.ts';
import {
  block,
  stack,
  createToken,
  openTab,
  changeSession,
  begin,
  intercept,
  signIn,
} from './contact-form.ts';

it('begins with a wrong clock, and keeps the link to an inquiry', async () => {
  const { page, requested } = await signIn({
    path: '/#019a',
    prepare: async ({ clock }) => clock.install({ time: '2050-01-01' }),
  });
  expect(page.url()).toBe(`${stack.formUrl}/#019a`);
  const [authorize = ''] = requested('/oauth2/authorize');
  const sent = Object.fromEntries(new URL(authorize).searchParams);
  const random = expect.stringMatching(/^.{43}$/);
  expect(sent).toMatchObject({
    code_challenge_method: 'S256',
    code_challenge: random,
    state: random,
    nonce: random,
  });
  expect(requested('/openid-configuration')).toHaveLength(1);
  const kept = await page.evaluate('JSON.stringify([sessionStorage, localStorage])');
  expect(kept).toContain('idToken');
  expect(kept).not.toContain('refresh');
  await page.goBack();
  await page.goForward();
  expect(page.url()).not.toContain('code=');
});

const WITH_CLOCK = { prepare: async ({ clock }: Page) => clock.install() };

it('begins in a new tab without a password, and is renewed once for all requests', async () => {
  const { page, context, requested, write, send, see, holds, lists } = await signIn(WITH_CLOCK);
  const other = on(await context.newPage());
  await other.page.goto(stack.formUrl);
  await other.click('Sign in');
  await other.deliver('from the second tab');
  const renewals = () => requested('/oauth2/token').length - 2;
  expect(renewals()).toBe(0);
  await page.clock.fastForward('02:00:00');
  await write('from the first');
  // Only a program can click twice in one turn.
  await page.evaluate(
    `for (const selector of ['[type=submit]', '.list-head button']) document.querySelector(selector).click()`,
  );
  await lists('from the first', 'from the second tab');
  expect(renewals()).toBe(1);
  const { url, clientId } = stack.issuer;
  const logout = `${url}/logout?client_id=${clientId}&logout_uri=${stack.formUrl}/`;
  await context.request.get(logout);
  await page.clock.fastForward('02:00:00');
  await write('still here');
  await send.click();
  await see('Your session has ended');
  await holds('still here', 'still here');
});

it('stores no token that arrives after a sign-out in another tab', async () => {
  const { page, submit, see } = await signIn(WITH_CLOCK);
  const other = await openTab(page);
  const { promise: signedOut, resolve: signOut } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  await page.route('**/oauth2/token', async (route) => {
    const response = await route.fetch();
    await signedOut;
    await route.fulfill({ response });
    answer();
  });
  await page.clock.fastForward('02:00:00');
  await submit('too late');
  await other.click('Sign out', 'Keep it and sign out');
  await see('You’re signed out');
  signOut();
  await answered;
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
  expect(await page.evaluate('sessionStorage.getItem("inquiries.session")')).toBeNull();
});

it('replaces a token that the gateway refuses, and outlasts answers that pass', async () => {
  const form = await signIn(WITH_CLOCK);
  const { page, send, see, posts } = form;
  const headers = { 'access-control-allow-origin': '*' };
  await intercept(page, 'POST', async (route) =>
    posts.length > 1
      ? route.continue()
      : route.fulfill({ status: 401, json: { message: 'Unauthorized' }, headers }),
  );
  await form.submit('refused once');
  await expect.poll(() => form.requested('/oauth2/token')).toHaveLength(2);
  // The form waits, since the gateway's clock may be behind.
  await page.clock.fastForward(3_000);
  await see('received your inquiry');
  expect(posts).toEqual([posts[0], posts[0]]);
  await form.write('a', 'b');
  await page.clock.fastForward('02:00:00');
  for (const [status, error] of [
    [400, 'temporarily_unavailable'],
    [503, 'server_error'],
  ] as const) {
    await page.route('**/oauth2/token', async (route) =>
      route.fulfill({ status, json: { error }, headers }),
    );
    await send.click();
    await see('The service isn’t responding', 'Nothing was sent');
    await form.lacks('Your session has ended');
  }
  await page.unrouteAll();
  await form.deliver();
});

const fillStorage = async (page: Page) =>
  page.evaluate(`Storage.prototype.setItem = () => { throw new Error('full') }`);

it('ends everywhere at a sign-out, which keeps or deletes the text of all tabs', async () => {
  const { context, email, ...first } = await signIn();
  const other = await openTab(first.page);
  await other.write('kept');
  // The other tab needs no request to know it.
  await other.page.route('**', async (route) => route.abort());
  await first.click('Sign out', 'Keep it and sign out');
  for (const { see } of [first, other]) await see('You’re signed out');
  await first.click('Sign in');
  await first.emailField.waitFor();
  await other.page.unrouteAll();
  await other.signIn(email);
  await other.holds('kept', 'kept');
  const elsewhere = await openTab(other.page);
  const full = await openTab(other.page);
  await first.page.goto(stack.formUrl);
  await first.click('Sign in');
  await first.subject.waitFor();
  await elsewhere.write('in a tab that shows another page');
  await elsewhere.page.goto('about:blank');
  // A deletion does not ask for text that is not kept.
  await fillStorage(full.page);
  await full.write('kept nowhere');
  // Text removed here removes the draft of all tabs.
  await first.write('here');
  await first.write('');
  await first.click('Sign out', 'Delete it and sign out');
  for (const { see } of [first, other, full]) await see('You’re signed out');
  const late = await context.newPage();
  for (const page of [elsewhere.page, late]) {
    await page.goto(stack.formUrl);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  }
  const drafts = `[localStorage, sessionStorage].flatMap((store) =>
      Object.keys(store).filter((key) => key.startsWith('inquiries.draft')))`;
  for (const { page } of [first, other, elsewhere, full]) {
    expect(await page.evaluate(drafts)).toEqual([]);
  }
  await other.signIn(email);
  await elsewhere.click('Sign in');
  for (const { holds } of [other, elsewhere]) await holds('');
});

it('is shared by the tabs of one user, which show what another sends', async () => {
  const { send, write, stored, ...first } = await begin();
  await write('a draft', 'of both');
  const [same, different] = [await openTab(first.page), await openTab(first.page)];
  await same.holds('a draft', 'of both');
  await different.write('another text', 'of both');
  await different.page.evaluate(`{
    const { sub } = JSON.parse(sessionStorage.getItem('inquiries.session')).user;
    const channel = new BroadcastChannel('inquiries.sent.' + sub);
    // Another version of the page may send them.
    for (const message of [null, {}, { inquiry: { created_at: '2026' }, key: 'k' }]) channel.postMessage(message);
  }`);
  await send.click();
  await same.see('You sent this inquiry from another tab.');
  await same.holds('');
  for (const { lists } of [first, same, different]) await lists('a draft');
  await different.holds('another text', 'of both');
  await stored('a draft');
  await changeSession(same.page, { expires: 0 });
  await same.see('Your session has ended');
});

it('says why it has not begun', async () => {
  const { page, click, see, email, enterEmail } = await begin();
  await block(page, stack.issuer.url);
  await click('Sign out');
  await see('You’re signed out of this site');
  expect(await page.evaluate('sessionStorage.getItem("inquiries.session")')).toBeNull();
  await page.goto(`${stack.formUrl}/?code=stolen&state=unknown`);
  await see('We couldn’t sign you in');
  expect(page.url()).toBe(`${stack.formUrl}/`);
  await click('Sign in');
  await see('The sign-in service isn’t responding');
  await page.unrouteAll();
  await click('Sign in', 'Cancel');
  await see('The sign-in was cancelled');
  // A token of another sign-in of the same user.
  const id_token = await createToken({ email });
  await page.route('**/oauth2/token', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as object;
    await route.fulfill({ response, json: { ...json, id_token } });
  });
  await click('Sign in');
  await enterEmail(email);
  await see('We couldn’t sign you in');
});

it('asks before it ends where the browser cannot keep a text', async () => {
  const { page, subject } = await begin();
  const other = await openTab(page);
  await fillStorage(page);
  await subject.pressSequentially('precious');
  const asked = page.waitForEvent('dialog');
  await other.click('Sign out', 'Keep it and sign out');
  await (await asked).dismiss();
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de');
  await page.locator('html[lang=de]').waitFor();
  const field = page.locator('#subject');
  expect(await field.inputValue()).toBe('precious');
  // Neither an empty form nor the view before asks.
  await field.fill('');
  page.on('dialog', (next) => expect.unreachable(next.type()));
  await page.reload();
});
