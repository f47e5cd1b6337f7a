/** The session of the contact form in a real browser. */
import { describe, expect, it } from 'vitest';
import { anyone, on, whyNoBrowser } from './chromium.ts';
import { setUpForm } from './contact-form.ts';

describe.skipIf(whyNoBrowser !== undefined)('the session', () => {
  const { here, begin, stored, openTab, expire } = setUpForm();

  it('ended while writing: the text is kept, and after the sign-in it is ready to send', async () => {
    const { page, write, send, alert, subject, subjects, email } = await begin();
    await write('kept', 'all of it');
    // An expired token and no refresh token, as after a reload; the gateway itself refuses it.
    await expire(page, await here.stack.issuer.token({ email, expiresIn: -60 }));
    await page.reload();
    await send.click();
    await alert.getByText('Your session has ended').waitFor();
    expect(await subject.inputValue()).toBe('kept');
    await send.and(page.getByText('Sign in again')).click();
    await page.getByText('Ready to send', { exact: true }).waitFor();
    expect(await subject.inputValue()).toBe('kept');
    expect(await page.locator(':focus').textContent()).toBe('Send inquiry');
    expect(page.url()).toBe(`${here.formUrl}/`);
    await page.keyboard.press('Enter');
    await expect.poll(() => subjects.allTextContents()).toEqual(['kept']);
    expect(await stored(email)).toEqual(['kept']);
  });

  it('is renewed unnoticed with the refresh token, once for requests at the same time', async () => {
    const visit = await here.open();
    const { page, requests } = visit;
    await page.clock.install();
    await page.goto(here.formUrl);
    const { signIn, write, subjects } = on(page);
    await signIn(anyone());
    const tokenRequests = () => requests.filter((url) => url.endsWith('/oauth2/token')).length;
    expect(tokenRequests()).toBe(1);
    for (const round of [1, 2]) {
      await page.clock.fastForward('02:00:00');
      await write(`round ${round}`, '');
      // Both in the same turn, as only a program can click.
      await page.evaluate(
        `for (const selector of ['[type=submit]', '.list-head button']) document.querySelector(selector).click()`,
      );
      await expect.poll(() => subjects.count()).toBe(round);
      expect(tokenRequests()).toBe(1 + round);
    }
  });

  it('ended at the issuer: the refresh is refused and one is asked to sign in', async () => {
    const { page, requests } = await here.open();
    await page.clock.install();
    await page.goto(here.formUrl);
    const { signIn, write, send, alert, subject } = on(page);
    await signIn(anyone());
    await write('still here', '');
    const { issuer, formUrl } = here.stack;
    await page.evaluate(
      `fetch('${issuer.url}/logout?client_id=${issuer.clientId}&logout_uri=${formUrl}/', { mode: 'no-cors', credentials: 'include' }).catch(() => 0)`,
    );
    await page.clock.fastForward('02:00:00');
    await send.click();
    await alert.getByText('Your session has ended').waitFor();
    expect(await subject.inputValue()).toBe('still here');
    expect(requests.some((url) => url.includes('/logout'))).toBe(true);
  });

  it('sends code challenge, state and nonce, and leaves no code in the address', async () => {
    const { page, requests } = await begin();
    const authorize = new URL(requests.find((url) => url.includes('/oauth2/authorize')) ?? '');
    const { searchParams } = authorize;
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) expect(searchParams.get(name)).toBeTruthy();
    expect(page.url()).toBe(`${here.formUrl}/`);
    await page.goBack();
    await page.goForward();
    expect(page.url()).not.toContain('code=');
  });

  it('keeps the refresh token out of every storage', async () => {
    const { page } = await begin();
    const kept = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    expect(kept).toContain('idToken');
    expect(kept).not.toContain('refresh');
  });

  it('ends in every tab at sign-out, at the issuer too', async () => {
    const { page, context, button } = await begin();
    const other = await openTab(context);
    await button('Sign out').click();
    await page.getByText('You’re signed out').waitFor();
    await other.getByText('You’re signed out').waitFor();
    await on(page).button('Sign in').click();
    await page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
  });

  it('ends here even when the issuer does not answer, and says so', async () => {
    const { page, button } = await begin();
    await page.reload();
    await page.route(`${here.stack.issuer.url}/**`, async (route) => route.abort('connectionrefused'));
    await button('Sign out').click();
    await page.getByText('You’re signed out here').waitFor();
    expect(await page.evaluate('sessionStorage.getItem("inquiries.session")')).toBeNull();
  });

  it('says when the sign-in was cancelled', async () => {
    const { page } = await here.open();
    await page.goto(here.formUrl);
    await on(page).button('Sign in').click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The sign-in was cancelled').waitFor();
  });

  it('does not take an answer of the issuer that it has not asked for', async () => {
    const { page } = await here.open();
    await page.goto(`${here.formUrl}/?code=stolen&state=unknown`);
    await page.getByText('The sign-in didn’t work').waitFor();
    expect(page.url()).toBe(`${here.formUrl}/`);
  });

  it('says when the issuer does not answer', async () => {
    const { page } = await here.open();
    await page.route(`${here.stack.issuer.url}/**`, async (route) => route.abort('connectionrefused'));
    await page.goto(here.formUrl);
    await on(page).button('Sign in').click();
    await page.getByText('The sign-in service doesn’t answer').waitFor();
    await on(page).button('Sign in').waitFor();
  });
});
