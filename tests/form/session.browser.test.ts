/** The session of the contact form in a real browser. */
import { describe, expect, it } from 'vitest';
import { anyone, enterEmail, on, whyNoBrowser } from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';

describe.skipIf(whyNoBrowser !== undefined)('the session', () => {
  const { here, arrive, begin, signIn, stored, openTab, expire } = setUpForm();

  const signInWithClock = async () => signIn(anyone(), async (page) => page.clock.install());

  it('can begin while the browser does not say which tabs there are', async () => {
    const { page } = await here.open();
    await page.addInitScript('navigator.locks.query = () => new Promise(() => undefined)');
    await page.goto(here.formUrl);
    await on(page).button('Sign in').waitFor();
  });

  it('ends while the user writes: the text is kept, and is ready to send after the sign-in', async () => {
    const { page, write, send, alert, subject, subjects, email } = await signIn();
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

  it('is renewed with the refresh token, once for simultaneous requests, until it has ended at the issuer', async () => {
    const { page, requests, write, send, alert, subject, subjects } = await signInWithClock();
    const tokenRequests = () => requests.filter((url) => url.endsWith('/oauth2/token')).length;
    expect(tokenRequests()).toBe(1);
    for (const round of [1, 2]) {
      await page.clock.fastForward('02:00:00');
      await write(`round ${round}`);
      // Both in the same turn, as only a program can click.
      await page.evaluate(
        `for (const selector of ['[type=submit]', '.list-head button']) document.querySelector(selector).click()`,
      );
      await expect.poll(() => subjects.count()).toBe(round);
      expect(tokenRequests()).toBe(1 + round);
    }
    const { issuer, formUrl } = here.stack;
    const logout = `${issuer.url}/logout?client_id=${issuer.clientId}&logout_uri=${formUrl}/`;
    await page.evaluate(
      `fetch('${logout}', { mode: 'no-cors', credentials: 'include' }).catch(() => undefined)`,
    );
    expect(requests).toContain(logout);
    await page.clock.fastForward('02:00:00');
    await write('still here');
    await send.click();
    await alert.getByText('Your session has ended').waitFor();
    expect(await subject.inputValue()).toBe('still here');
  });

  it('sends code challenge, state and nonce, leaves no code in the address, and stores no refresh token', async () => {
    const { page, requests } = await signIn();
    const authorize = new URL(requests.find((url) => url.includes('/oauth2/authorize')) ?? '');
    const { searchParams } = authorize;
    // The discovery document is not requested again after the redirect.
    expect(requests.filter((url) => url.includes('/openid-configuration'))).toHaveLength(1);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) {
      expect(searchParams.get(name)).toBeTruthy();
    }
    expect(page.url()).toBe(`${here.formUrl}/`);
    const kept = await page.evaluate(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])',
    );
    expect(kept).toContain('idToken');
    expect(kept).not.toContain('refresh');
    await page.goBack();
    await page.goForward();
    expect(page.url()).not.toContain('code=');
  });

  it('ends in every tab at sign-out and at the issuer; text of another tab is there after the next sign-in', async () => {
    const { page, context, button, email } = await signIn();
    const other = await openTab(context);
    await on(other).write('kept');
    // Without a request.
    await other.route('**', async (route) => route.abort());
    await button('Sign out').click();
    await button('Keep it and sign out').click();
    for (const tab of [page, other]) await tab.getByText('You’re signed out').waitFor();
    await button('Sign in').click();
    await page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
    await other.unroute('**');
    await on(other).signIn(email);
    expect(await on(other).subject.inputValue()).toBe('kept');
  });

  it('ends with “Delete it and sign out”: the text of every tab is deleted, also where only one that shows another page has it, and no tab is handed the session', async () => {
    const { page, context, button, write, email, complaints } = await signIn();
    const [other, elsewhere, full] = [
      await openTab(context),
      await openTab(context),
      await openTab(context),
    ];
    await on(other).write('in another tab');
    await on(elsewhere).write('in a tab that shows another page');
    await elsewhere.goto('about:blank');
    // Text that the browser cannot keep: nothing asks whether to leave.
    await full.evaluate(`Storage.prototype.setItem = () => { throw new Error('full') }`);
    await on(full).write('kept nowhere');
    // Text that was written and removed here takes the draft of all tabs with it.
    await write('here');
    await write('');
    await button('Sign out').click();
    await button('Delete it and sign out').click();
    for (const tab of [page, other, full]) await tab.getByText('You’re signed out').waitFor();
    const late = await context.newPage();
    for (const tab of [elsewhere, late]) {
      await tab.goto(here.formUrl);
      await on(tab).button('Sign in').waitFor();
    }
    const drafts = `[localStorage, sessionStorage].flatMap((store) =>
      Object.keys(store).filter((key) => key.startsWith('inquiries.draft')))`;
    for (const tab of [page, other, elsewhere, full]) {
      expect(await tab.evaluate(drafts)).toEqual([]);
    }
    await on(other).signIn(email);
    await elsewhere.reload();
    for (const tab of [other, elsewhere]) expect(await on(tab).subject.inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('ignores malformed messages of other tabs', async () => {
    const { page, context, complaints, email } = await begin();
    const other = await openTab(context);
    await other.evaluate(`{
      const { sub } = JSON.parse(sessionStorage.getItem('inquiries.session')).user;
      const channels = ['inquiries.session ${here.stack.issuer.url} ${here.stack.issuer.clientId}', 'inquiries.sent.' + sub];
      const messages = [null, undefined, 0, 'x', [], {}, { wanted: null }, { tokens: null }, { inquiry: null, key: 'k' },
        { inquiry: {}, key: 'k' }, { inquiry: { id: 1, subject: null }, key: 5 }, { deleted: 5 }];
      for (const name of channels) for (const message of messages) new BroadcastChannel(name).postMessage(message);
    }`);
    // Messages keep their order.
    await on(other).deliver('after them');
    await expect.poll(() => on(page).subjects.allTextContents()).toEqual(['after them']);
    expect(await stored(email)).toEqual(['after them']);
    expect(complaints).toEqual([]);
  });

  it('is handed to new tabs, and renewed for them by the tab with the refresh token, once', async () => {
    const { page, context, requests, email } = await signInWithClock();
    const atIssuer = () =>
      requests.filter(
        (url) => url.startsWith(here.stack.issuer.url) && !url.includes('/openid-configuration'),
      );
    const before = atIssuer().length;
    const others = [await openTab(context), await openTab(context)] as const;
    const token = `JSON.parse(sessionStorage.getItem('inquiries.session')).idToken`;
    expect(await others[0].evaluate(token)).toBe(await page.evaluate(token));
    const { submit, subjects } = on(others[0]);
    await submit('from the second tab');
    await expect.poll(() => subjects.count()).toBe(1);
    expect(await stored(email)).toEqual(['from the second tab']);
    expect(atIssuer()).toHaveLength(before);
    await page.clock.fastForward('02:00:00');
    const clicks = others.map(async (other) => {
      const answered = other.waitForResponse(
        (response) =>
          response.url().startsWith(here.stack.url) && response.request().method() === 'GET',
      );
      await on(other).button('Refresh').click();
      return (await answered).status();
    });
    expect(await Promise.all(clicks)).toEqual([200, 200]);
    expect(atIssuer().slice(before)).toEqual([`${here.stack.issuer.url}/oauth2/token`]);
  });

  it('of one user is not handed to a tab of another user', async () => {
    const { context } = await begin();
    const other = await openTab(context);
    const endAs = async (sub: string) => {
      await other.evaluate(`{
        const tokens = JSON.parse(sessionStorage.getItem('inquiries.session'));
        tokens.expires = 0;
        tokens.user.sub = ${sub};
        sessionStorage.setItem('inquiries.session', JSON.stringify(tokens));
      }`);
      await other.reload();
    };
    await endAs('tokens.user.sub');
    await on(other).subject.waitFor();
    await endAs('"another"');
    await other.getByText('Your session has ended').waitFor();
  });

  it('begins on a machine whose clock is wrong by years, and keeps the link to an inquiry', async () => {
    const { page, signIn: enter } = await arrive('/#019a', {}, async (opened) =>
      opened.clock.install({ time: '2050-01-01' }),
    );
    await enter(anyone());
    expect(page.url()).toBe(`${here.formUrl}/#019a`);
  });

  it('does not begin with an ID token that is not the answer to this sign-in', async () => {
    const { page, button } = await arrive();
    const email = anyone();
    await page.route('**/oauth2/token', async (route) => {
      const response = await route.fetch();
      const json: unknown = await response.json();
      // Of the same issuer, for the same client and user, without the nonce.
      const id_token = await here.stack.issuer.token({ email });
      await route.fulfill({ response, json: { ...(json as object), id_token } });
    });
    await button('Sign in').click();
    await enterEmail(page, email);
    await page.getByText('The sign-in didn’t work').waitFor();
  });

  it('ends here even when the issuer does not answer, and says why it has not begun: another sign-in, no answer, cancelled', async () => {
    const { page, button } = await begin();
    await page.reload();
    const issuer = `${here.stack.issuer.url}/**`;
    await page.route(issuer, async (route) => route.abort('connectionrefused'));
    await button('Sign out').click();
    await page.getByText('You’re signed out here').waitFor();
    expect(await page.evaluate('sessionStorage.getItem("inquiries.session")')).toBeNull();
    await page.goto(`${here.formUrl}/?code=stolen&state=unknown`);
    await page.getByText('The sign-in didn’t work').waitFor();
    expect(page.url()).toBe(`${here.formUrl}/`);
    await button('Sign in').click();
    await page.getByText('The sign-in service doesn’t answer').waitFor();
    await page.unroute(issuer);
    await button('Sign in').click();
    await button('Cancel').click();
    await page.getByText('The sign-in was cancelled').waitFor();
  });

  it('in two tabs: one shows what the other sends, and a form with the same draft is emptied', async () => {
    const { context, write, send, email } = await begin();
    await write('a draft', 'of both');
    const [same, different] = [await openTab(context), await openTab(context)];
    expect(await on(same).subject.inputValue()).toBe('a draft');
    await on(different).write('another text', 'of both');
    await send.click();
    await same.getByText('You sent this inquiry from another tab.').waitFor();
    expect(await on(same).subject.inputValue()).toBe('');
    for (const tab of [same, different]) {
      await expect.poll(() => on(tab).subjects.allTextContents()).toEqual(['a draft']);
    }
    expect(await on(different).subject.inputValue()).toBe('another text');
    expect(await stored(email)).toEqual(['a draft']);
  });

  it('asks before it ends in a tab with text that the browser cannot keep, which stays in another language', async () => {
    const { page, context, subject } = await begin();
    const other = await openTab(context);
    await page.evaluate(`Storage.prototype.setItem = () => { throw new Error('full') }`);
    await subject.pressSequentially('precious');
    const asked = page.waitForEvent('dialog');
    await on(other).button('Sign out').click();
    await on(other).button('Keep it and sign out').click();
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('de');
    await page.locator('html[lang=de]').waitFor();
    const field = page.locator('#subject');
    expect(await field.inputValue()).toBe('precious');
    // With an empty form nothing asks before the page is left, nor does the view before.
    await field.fill('');
    const dialogs: string[] = [];
    page.on('dialog', (next) => {
      dialogs.push(next.type());
      void next.accept();
    });
    await page.reload();
    expect(dialogs).toEqual([]);
  });
});
