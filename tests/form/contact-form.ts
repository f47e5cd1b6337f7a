import type { BrowserContext, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import { beforeEach, expect, inject } from 'vitest';
import { signToken, subOf, type TokenRequest } from '../../lib/issuer/issuer-tokens.ts';
import { createClient } from '../../local/database/table.ts';
import type { Inquiry } from '../../src/contract.ts';
import { parseToken } from '../../web/src/session/token.ts';
import { on, openPage, whyNoBrowser } from './chromium.ts';
import { putInquiries } from '../function/test-inquiries.ts';

export { openPage } from './chromium.ts';

export const stack = inject('stack');

let users = 0;
export const anyone = (): string => `ana-${process.pid}-${++users}@example.com`;

export const createToken = async (request?: TokenRequest): Promise<string> =>
  signToken(stack.key, stack.issuer.url, request);

const call = async (email: string, init?: RequestInit) =>
  fetch(`${stack.url}/inquiries`, {
    headers: { authorization: await createToken({ email }), 'content-type': 'application/json' },
    ...init,
  });
export const post = async (email: string, subject: string, body = '') =>
  call(email, { method: 'POST', body: JSON.stringify({ subject, body }) });

/** Typing a long text takes many seconds. */
export const paste = async (field: Locator, text: string) =>
  field.evaluate(
    (element, value) =>
      Object.assign(element, { value }).dispatchEvent(new Event('input', { bubbles: true })),
    text,
  );

/** With the first tab's ID token. */
export async function openTab(first: Page) {
  const session = await first.evaluate<string>(`sessionStorage.getItem('inquiries.session')`);
  const form = on(await first.context().newPage());
  await storeSession(form.page, session);
  await form.page.goto(stack.formUrl);
  await form.subject.waitFor();
  return form;
}

async function storeSession(page: Page, session: string) {
  await page.goto(`${stack.formUrl}/config.json`);
  await page.evaluate(`sessionStorage.setItem('inquiries.session', ${JSON.stringify(session)})`);
}

/** Handles requests to the API with one method, in place of an earlier handler. */
export async function intercept(
  page: Page | BrowserContext,
  method: 'GET' | 'POST',
  handler: (route: Route) => unknown,
) {
  const api = `${stack.url}/**`;
  await page.unroute(api);
  await page.route(api, async (route) =>
    // A preflight, for instance, goes on.
    route.request().method() === method ? handler(route) : route.continue(),
  );
}

export const block = async (page: Page, origin: string) =>
  page.route(`${origin}/**`, async (route) => route.abort('connectionrefused'));

/** Holds requests to the API with one method until the returned function is called. */
export async function hold(page: Page | BrowserContext, method: 'GET' | 'POST') {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await intercept(page, method, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

export async function changeSession(page: Page, keys: object) {
  await page.evaluate(`sessionStorage.setItem('inquiries.session', JSON.stringify({
    ...JSON.parse(sessionStorage.getItem('inquiries.session')), ...${JSON.stringify(keys)} }))`);
  await page.reload();
}

interface Arrival extends BrowserContextOptions {
  path?: string;
  config?: object;
  prepare?: (page: Page) => Promise<unknown>;
}

beforeEach(({ skip }) => skip(whyNoBrowser !== undefined, whyNoBrowser));

export const arrive = async (
  { path = '', config, prepare, ...options }: Arrival = {},
  email = anyone(),
  session?: object,
) => {
  const visit = await openPage(options);
  const { page } = visit;
  if (config !== undefined) {
    await page.route('**/config.json', async (route) => {
      const before = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...before, ...config } });
    });
  }
  if (session !== undefined) await storeSession(page, JSON.stringify(session));
  await prepare?.(page);
  await page.goto(stack.formUrl + path);
  return {
    ...visit,
    email,
    async stored(...subjects: string[]) {
      const { inquiries } = (await (await call(email)).json()) as { inquiries: Inquiry[] };
      expect(inquiries.map(({ subject }) => subject)).toEqual(subjects);
    },
  };
};

export const signIn = async (arrival?: Arrival) => {
  const form = await arrive(arrival);
  await form.signIn(form.email);
  return form;
};

/** Begins as after a reload, without a refresh token; a sign-in takes a second more. */
export const begin = async (arrival?: Arrival, email = anyone()) => {
  const idToken = await createToken({ email });
  const expires = Date.now() + 1e9;
  const session = { idToken, user: parseToken(idToken), expires, lastSignOut: null };
  const form = await arrive(arrival, email, session);
  await form.subject.waitFor();
  return form;
};

/** `at` in milliseconds. */
type Sent = readonly [subject: string, body?: string, at?: number];

export const numbered = (count: number, body = ''): Sent[] =>
  Array.from({ length: count }, (_, index) => [`number ${index + 1}`, body]);

/** With inquiries that are stored past the service, the oldest first. */
export const beginWith = async (rows: readonly Sent[], arrival?: Arrival, email = anyone()) => {
  const start = Date.now() - rows.length;
  const inquiries = await putInquiries(
    { name: stack.tableName, client: createClient(stack.engineUrl) },
    rows.map(([subject, body = '', at], index) => ({
      subject,
      body,
      email,
      cognito_sub: subOf(email),
      at: at ?? start + index,
    })),
  );
  const visit = await begin(arrival, email);
  const said = visit.page.locator('.list > [role=status]');
  const list = {
    ...visit,
    ids: inquiries.map(({ id }) => id),
    counts: async (expected: number) =>
      await expect.poll(() => visit.subjects.count()).toBe(expected),
    says: async (text: string) => await expect.poll(() => said.textContent()).toBe(text),
  };
  await list.counts(Math.min(50, rows.length));
  return list;
};
