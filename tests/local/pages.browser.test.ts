/** The pages of the local stack for developers in a real browser: of the issuer, the docs, the mailbox, and what is at none. */
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMailbox } from '../../local/mailbox.ts';
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

  it('of issuer and docs have no finding of axe and HTML_CodeSniffer, and fit a phone', async () => {
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
    await page.goto(here.stack.docsUrl);
    await check(page);
    expect(complaints).toEqual([]);
  });

  it('of the mailbox shows the newest mail as its reader sees it, and another when it is chosen', async () => {
    const mailbox = await startMailbox(0);
    onTestFinished(() => mailbox.close());
    const deliver = async (subject: string, Body: object) =>
      fetch(`${mailbox.url}/v2/email/outbound-emails`, {
        method: 'POST',
        body: JSON.stringify({
          FromEmailAddress: 'team@example.com',
          Destination: { ToAddresses: ['ana@example.com'] },
          Content: { Simple: { Subject: { Data: subject }, Body } },
        }),
      });
    const { page, complaints } = await here.open();
    await page.goto(mailbox.url);
    await page.getByText('No mail yet').waitFor();
    const frame = page.frameLocator('details[open] iframe');
    await deliver('<b>first</b>', { Text: { Data: '<i>text</i> only' } });
    await frame.getByText('<i>text</i> only').waitFor();
    await deliver('second', {
      Html: { Data: '<p style="color: green">Hello</p><script>top.document.title = 1</script>' },
    });
    await frame.getByText('Hello').waitFor();
    await check(page);
    await page.getByText('<b>first</b>').click();
    await frame.getByText('<i>text</i> only').waitFor();
    expect(await page.title()).toBe('Mailbox · local stack');
    expect(complaints.filter((text) => !text.includes('sandboxed'))).toEqual([]);
  });

  it('of an address without a page has the dress of the form, and leads to it', async () => {
    const { page, complaints } = await here.open();
    const response = await page.goto(`${here.formUrl}/no/page`);
    expect(response?.status()).toBe(404);
    await check(page);
    await page.getByRole('link', { name: 'Contact us' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
