/** The pages of the local stack for developers in a real browser: the issuer's and the docs page. */
import { describe, expect, it } from 'vitest';
import * as browser from '../helpers/chromium.ts';

describe.skipIf(browser.whyNoBrowser !== undefined)('the local pages', () => {
  const here = browser.setUp();
  const PHONE = { viewport: { width: 320, height: 640 } };

  it('of the issuer are accessible and fit a phone', async () => {
    const { page, complaints } = await here.open(PHONE);
    const query = new URLSearchParams({
      client_id: here.stack.issuer.clientId,
      response_type: 'code',
      redirect_uri: 'http://localhost:5173/a-long-path-without-a-space-that-is-wider-than-a-phone',
    });
    for (const path of ['/', `/oauth2/authorize?${query.toString()}`]) {
      await page.goto(here.stack.issuer.url + path);
      await browser.expectAccessible(page);
      await browser.expectFits(page);
    }
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
    const exchange = page.waitForRequest((request) => request.url() === `${issuer.url}/oauth2/token`);
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
