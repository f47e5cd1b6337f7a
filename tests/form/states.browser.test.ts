/** Every state of the page: no violation of axe in light and in dark, nothing wider than a page of 320 px. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import BRANDING from '../../web/config.example.json' with { type: 'json' };
import {
  anyone,
  checkPage,
  configure,
  PHONE,
  SAMPLES,
  takePicture,
  whyNoBrowser,
} from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1120, height: 760 } };

describe.skipIf(whyNoBrowser !== undefined)('every state of the page', () => {
  const { here, arrive, begin, post, paste, intercept, hold } = setUpForm();

  /** Opens the page of a user with inquiries. */
  const beginWithInquiries = async (options = WIDE, branding: object = {}) => {
    const email = anyone();
    for (const [subject, body] of SAMPLES) await post(email, subject, body);
    return begin(email, { locale: 'en-GB', ...options }, async (page) => {
      await page.clock.install();
      await configure(page, branding);
    });
  };

  /** Answers every POST of a page with a status. */
  const refuse = async (page: Page, status: number, headers: Record<string, string> = {}) => {
    await page.unroute(`${here.stack.url}/**`);
    await intercept(page, 'POST', async (route) =>
      route.fulfill({
        status,
        headers: {
          'access-control-allow-origin': here.formUrl,
          'access-control-expose-headers': Object.keys(headers).join(),
          ...headers,
        },
        json: { message: 'a fault made for this test' },
      }),
    );
  };

  it('after a sign-in that failed', async () => {
    const { page } = await arrive('/?error=access_denied&state=none', WIDE);
    await page.getByText('The sign-in didn’t work').waitFor();
    await checkPage(page);
  });

  it('without its configuration', async () => {
    const { page } = await arrive('', WIDE, async (opened) =>
      opened.route('**/config.json', async (route) => route.fulfill({ json: {} })),
    );
    await page.getByRole('heading', { name: 'The contact form cannot start' }).waitFor();
    await page.getByRole('main').getByText('“issuer” is missing').waitFor();
    await checkPage(page);
  });

  it('loading', async () => {
    let load = (): void => undefined;
    const { page } = await begin(anyone(), WIDE, async (opened) => {
      load = await hold(opened, 'GET');
    });
    await checkPage(page);
    load();
    await page.locator('.list').waitFor({ state: 'hidden' });
    await checkPage(page);
  });

  it('with inquiries, folded and unfolded, a draft, sending, and sent', async () => {
    const { page, button, write, send } = await beginWithInquiries();
    await button('Show all').first().waitFor();
    await checkPage(page);
    await takePicture(page, 'list');
    await button('Show all').first().click();
    await checkPage(page);
    const release = await hold(page, 'POST');
    await write(
      'Where is my parcel?',
      'It was to arrive on Monday.\n\nThe tracking page says “in transit”.',
    );
    await checkPage(page);
    await send.click();
    await checkPage(page);
    await page.clock.fastForward(6_000);
    await page.getByText('taking longer than usual').waitFor();
    await checkPage(page);
    release();
    await page.getByText('received your inquiry').waitFor();
    await checkPage(page);
  });

  it('after each failure: the text is kept, and the message says why', async () => {
    const { page, write, send, alert, status, subject, button } = await beginWithInquiries();
    await page.clock.setFixedTime(new Date('2026-11-21T13:53:00'));
    await write('Where is my parcel?', 'It was to arrive on Monday.');
    for (const [code, text, headers] of [
      [429, 'very busy', {}],
      [413, 'too long', {}],
      [429, 'at 14:05', { 'retry-after': '700' }],
    ] as const) {
      await refuse(page, code, headers);
      await send.click();
      await alert.getByText(text).waitFor();
      expect(await subject.inputValue()).toBe('Where is my parcel?');
      await checkPage(page);
      await page.getByRole('textbox', { name: 'Message' }).press('x');
    }
    // The button works again when the hour of the limit is over.
    expect(await send.getAttribute('aria-disabled')).toBe('true');
    await page.clock.setFixedTime(new Date('2026-11-21T14:05:00'));
    await page.clock.fastForward(700_000);
    await status.getByText('Ready to send').waitFor();
    await checkPage(page);
    await refuse(page, 422);
    await send.click();
    await page.getByRole('dialog').waitFor();
    await checkPage(page);
    await button('Keep editing').click();
    await refuse(page, 500);
    await send.click();
    await alert.getByText('Something went wrong').waitFor();
    await checkPage(page);
    await page.clock.setFixedTime(new Date('2026-11-22T14:00:00'));
    await send.click();
    await status.getByText('An earlier attempt may have arrived').waitFor();
    await checkPage(page);
    await refuse(page, 401);
    await send.click();
    await alert.getByText('Your session has ended').waitFor();
    await checkPage(page);
  });

  it('near the limit, and over it, also in forced colours', async () => {
    const { page, message } = await beginWithInquiries();
    for (const size of [395, 401]) {
      await paste(message, 'a long story '.repeat(40_000).slice(0, size * 1024));
      await checkPage(page);
    }
    await page.emulateMedia({ forcedColors: 'active' });
    await checkPage(page);
  });

  it('of a company with topics, offline, and sent, also in forced colours', async () => {
    const { deliver, submit, page, context, button } = await beginWithInquiries(WIDE, BRANDING);
    await button('Show all').first().waitFor();
    await button('Invoice').click();
    await checkPage(page);
    await page.emulateMedia({ forcedColors: 'active' });
    await checkPage(page);
    await page.emulateMedia({ forcedColors: 'none' });
    await context.setOffline(true);
    await page.getByText('You can keep writing').waitFor();
    await checkPage(page);
    await submit('Invoice: my last one', 'It has the address of our old shop.');
    await page.getByText('Nothing was sent').waitFor();
    await checkPage(page);
    await context.setOffline(false);
    await page.getByText('connected again').waitFor();
    await checkPage(page);
    await deliver();
    await checkPage(page);
    await page.emulateMedia({ forcedColors: 'active' });
    await checkPage(page);
  });

  it('on a phone of 320 px, without an answer to sending and to the list', async () => {
    const { submit, page, button, alert } = await beginWithInquiries(PHONE);
    await button('Show all').first().click();
    await page
      .getByRole('heading', { name: 'Your inquiries' })
      .evaluate((element) => element.scrollIntoView());
    await button('Write to us').waitFor();
    await checkPage(page);
    await page.route(`${here.stack.url}/**`, async (route) => route.abort('connectionrefused'));
    await submit('Where is my parcel?', 'It was to arrive on Monday.');
    await alert.getByText('The service doesn’t answer').waitFor();
    await button('Refresh').click();
    await page.getByText('couldn’t load').waitFor();
    await checkPage(page);
    await button('Menu').click();
    await button('Sign out').click();
    await page.getByRole('dialog').waitFor();
    await checkPage(page);
  });
});
