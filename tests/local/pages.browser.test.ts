/** The pages of the local stack for developers in a real browser: the issuer's and the docs page. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import * as browser from '../helpers/chromium.ts';

describe.skipIf(browser.whyNoBrowser !== undefined)('the local pages', () => {
  const here = browser.setUp();
  /** Expects a page without findings, wide and on a phone. */
  const check = async (page: Page) => {
    for (const width of [1180, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await browser.expectAccessible(page);
      await browser.expectFits(page);
    }
  };

  it('of the issuer have no finding of axe and HTML_CodeSniffer, and fit a phone', async () => {
    const { page, complaints } = await here.open();
    const unregistered =
      'http://localhost:5173/a-long-path-without-a-space-that-is-wider-than-a-phone';
    const authorize = `/oauth2/authorize?client_id=${here.stack.issuer.clientId}&redirect_uri=${unregistered}`;
    for (const path of ['/', authorize]) {
      await page.goto(here.stack.issuer.url + path);
      await check(page);
    }
    await page.goto(here.formUrl);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('textbox').waitFor();
    await check(page);
    // Otherwise Chromium would refuse the address.
    await page.evaluate("document.querySelector('form:has(input)').noValidate = true");
    await browser.enterEmail(page, 'مريم');
    await page.getByRole('alert').waitFor();
    await check(page);
    expect(complaints).toEqual([]);
  });

  it('with the contract have no finding either, whatever is open, and copy the curl lines', async () => {
    const { page, complaints } = await here.open({
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(here.stack.docsUrl);
    await page.getByRole('heading', { name: 'Inquiry service 0.1.0' }).waitFor();
    await page.getByRole('button', { name: 'Copy: List your inquiries' }).click();
    await page.getByRole('button', { name: 'Copied: List your inquiries' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `curl ${here.stack.url}/inquiries -H "Authorization: Bearer $TOKEN"`,
    );
    expect(await page.getByText('Schemas').count()).toBe(0);
    for (const operation of await page.locator('.opblock-summary-control').all()) {
      await operation.click();
    }
    await check(page);
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await check(page);
    expect(complaints).toEqual([]);
  });

  it('with the contract sign in without a client secret, call the API itself, and leave no trace elsewhere', async () => {
    const { page, context, complaints, requests } = await here.open();
    const { docsUrl, issuer, url } = here.stack;
    await page.goto(docsUrl);
    const referrers: unknown[] = [];
    context.on('request', (request) => referrers.push(request.headers()['referer']));
    await page.getByRole('button', { name: 'Authorize', exact: true }).click();
    await page.getByText('client_id:').waitFor();
    expect(await page.getByText('client_secret').filter({ visible: true }).count()).toBe(0);
    expect(await page.locator('input[type=password]').filter({ visible: true }).count()).toBe(0);
    const popup = context.waitForEvent('page');
    const exchange = page.waitForRequest(
      (request) => request.url() === `${issuer.url}/oauth2/token`,
    );
    await page.locator('.dialog-ux button.authorize').first().click();
    const email = browser.anyone();
    await browser.enterEmail(await popup, email);
    expect((await exchange).postData()).not.toContain('client_secret');
    await page.locator('.dialog-ux button').getByText('Logout').waitFor();
    await page.keyboard.press('Escape');

    await page.locator('.opblock-get button').first().click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText(`"email": "${email}"`).waitFor();
    const curl = await page.locator('.curl-command').textContent();
    expect(curl).toContain(`'${url}/inquiries'`);
    expect(curl).not.toContain(docsUrl);
    expect(new Set(requests.map((address) => new URL(address).origin))).toEqual(
      new Set([docsUrl, issuer.url, url]),
    );
    expect(referrers.filter(Boolean)).toEqual([]);
    const links = await page.evaluate(`[...document.links]
      .filter(({ origin }) => origin !== location.origin)
      .map(({ href, rel }) => [href, rel])`);
    expect(links).toEqual([['https://spdx.org/licenses/MIT.html', 'noopener noreferrer']]);
    expect(complaints).toEqual([]);
  });
});
