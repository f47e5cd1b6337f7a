/** What the tests of the contact form share. */
import type { BrowserContext, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import type { Inquiry } from '../../src/contract.ts';
import { dynamoDbLocalUnavailableReason } from '../../local/database/engines.ts';
import type { EngineName } from '../../local/database/engines.ts';
import { anyone, configure, keepSession, on, setUp } from './chromium.ts';

/** dynalite has no transactions, which keys need. */
export const whyNoKeys = dynamoDbLocalUnavailableReason();

/** Starts stack and browser, and returns what the tests of a file do with the form. */
export function setUpForm(engine: EngineName = whyNoKeys === undefined ? 'dynamodb-local' : 'dynalite') {
  const here = setUp(engine);

  /** Opens the form through the issuer's page, which then knows the user. */
  const signIn = async (email = anyone()) => {
    const visit = await here.open();
    await visit.page.goto(here.formUrl);
    await on(visit.page).signIn(email);
    return { ...visit, ...on(visit.page), email };
  };

  /** Opens the form with a session that is in the tab's storage, as after a reload: a second faster than a sign-in. */
  const begin = async (email = anyone(), options: BrowserContextOptions = {}, branding?: object) => {
    const visit = await here.open(options);
    await keepSession(visit.context, here.stack, email);
    if (branding !== undefined) await configure(visit.page, branding);
    await visit.page.goto(here.formUrl);
    await visit.page.getByRole('heading', { name: 'Your inquiries' }).waitFor();
    return { ...visit, ...on(visit.page), email };
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

  /** Lays hands on the requests to the API by method; a preflight goes through. */
  const intercept = async (page: Page, method: string, handler: (route: Route) => Promise<void>) =>
    page.route(`${here.stack.url}/**`, async (route) =>
      route.request().method() === method ? handler(route) : route.continue(),
    );
  const answer = (status: number, message: string) => async (route: Route) =>
    route.fulfill({
      status,
      headers: { 'access-control-allow-origin': here.formUrl },
      json: { error: 'TEST', message },
    });

  return { here, begin, signIn, paste, inquiriesOf, stored, post, openTab, expire, intercept, answer };
}
