/** What the tests of the contact form share. */
import type { BrowserContext, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import type { Inquiry } from '../../src/contract.ts';
import { anyone, keepSession, on, setUp } from './chromium.ts';

/** What the tests of a file do with the form. */
export function setUpForm() {
  const here = setUp();

  type Prepare = (page: Page) => Promise<unknown>;
  const unprepared: Prepare = async () => undefined;

  /**
   * Opens the page without a session.
   *
   * @param path - What follows the address of the form.
   * @param prepare - What happens to the page before it is opened.
   */
  const arrive = async (path = '', options: BrowserContextOptions = {}, prepare = unprepared) => {
    const visit = await here.open(options);
    await prepare(visit.page);
    await visit.page.goto(here.formUrl + path);
    return { ...visit, ...on(visit.page) };
  };

  /** Opens the form through the issuer's page, which then knows the user. */
  const signIn = async (email = anyone(), prepare = unprepared) => {
    const visit = await arrive('', {}, prepare);
    await visit.signIn(email);
    return { ...visit, email };
  };

  /** Opens the form with a session that is in the tab's storage, as after a reload: a second faster than a sign-in. */
  const begin = async (
    email = anyone(),
    options: BrowserContextOptions = {},
    prepare = unprepared,
  ) => {
    const visit = await arrive('', options, async (page) => {
      await keepSession(page.context(), here.stack, email);
      await prepare(page);
    });
    await visit.subject.waitFor();
    return { ...visit, email };
  };

  /** Puts a long text into a field; to type it in takes the browser many seconds. */
  const paste = async (field: Locator, text: string) => {
    await field.evaluate(
      (element, value) =>
        Object.assign(element, { value }).dispatchEvent(new Event('input', { bubbles: true })),
      text,
    );
  };

  const inquiriesOf = async (email: string): Promise<readonly Inquiry[]> => {
    const response = await fetch(`${here.stack.url}/inquiries`, {
      headers: { authorization: await here.stack.issuer.token({ email }) },
    });
    const { inquiries } = (await response.json()) as { inquiries: Inquiry[] };
    return inquiries;
  };
  /** The subjects that the service has stored for a user. */
  const stored = async (email: string): Promise<string[]> =>
    (await inquiriesOf(email)).map(({ subject }) => subject);

  const post = async (email: string, subject: string, body = ''): Promise<void> => {
    await fetch(`${here.stack.url}/inquiries`, {
      method: 'POST',
      headers: {
        authorization: await here.stack.issuer.token({ email }),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ subject, body }),
    });
  };

  /** Another tab of the same user: it gets the session of the first. */
  const openTab = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(here.formUrl);
    await on(page).subject.waitFor();
    return page;
  };

  /** Replaces the token of a tab. */
  const expire = async (page: Page, idToken: string) =>
    page.evaluate(
      `sessionStorage.setItem('inquiries.session', JSON.stringify({
        ...JSON.parse(sessionStorage.getItem('inquiries.session')), idToken: ${JSON.stringify(idToken)} }))`,
    );

  /** Handles the requests to the API with one method; others, such as a preflight, continue. */
  const intercept = async (page: Page, method: string, handler: (route: Route) => Promise<void>) =>
    page.route(`${here.stack.url}/**`, async (route) =>
      route.request().method() === method ? handler(route) : route.continue(),
    );

  /** Holds the requests to the API with one method back, until the returned function is called. */
  const hold = async (page: Page, method: string) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await intercept(page, method, async (route) => {
      await released;
      await route.continue();
    });
    return release;
  };

  return {
    here,
    arrive,
    begin,
    signIn,
    paste,
    inquiriesOf,
    stored,
    post,
    openTab,
    expire,
    intercept,
    hold,
  };
}
