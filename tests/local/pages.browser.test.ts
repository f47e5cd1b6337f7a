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

  it('of the docs have no finding either', async () => {
    const { page, complaints } = await here.open();
    await page.goto(here.stack.docsUrl);
    await check(page);
    expect(complaints).toEqual([]);
  });
});
