/**
 * Every state of the page: no violation of axe in light and in dark, nothing wider than a page of 320 px.
 * With SCREENSHOTS=FOLDER (npm run screenshots) each is also pictured there.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, it } from 'vitest';
import { anyone, expectAccessible, expectFits, on, takePicture, whyNoBrowser } from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1120, height: 760 } };
const NARROW: BrowserContextOptions = {
  viewport: { width: 320, height: 640 },
  isMobile: true,
  hasTouch: true,
};

/** What a company may say in config.json. */
const BRANDING = {
  name: 'Bruno’s Bakery',
  accent: '#0b6e4f',
  introduction: 'Ask us about orders, invoices and allergies.',
  expectation: 'We answer within two working days.',
  topics: ['An order', 'Billing', 'Allergies and ingredients', 'Opening hours'],
  answersFrom: 'hello@bakery.example',
};
/** Light and dark, on a desktop and on a phone. */
const DEVICES = [
  ['wide', '', WIDE],
  ['narrow', 'narrow-', NARROW],
] as const;

const SAMPLES = [
  ['Opening hours on 6 December', 'Are you open on the afternoon of the 6th?'],
  [
    'Café réservation 🎂',
    'Bonjour,\n\nnous serons huit personnes samedi à 19 h, dont deux enfants.\nAvez-vous une table près de la fenêtre ?\n\nL’une de nous ne mange ni noix ni sésame. Pouvez-vous nous dire quels plats conviennent ?\n\nMerci d’avance\nAna',
  ],
  ['سؤال عن الفاتورة', 'مرحبا، لم تصلني فاتورة شهر أكتوبر. هل يمكنكم إرسالها مرة أخرى؟'],
  ['<b>Is this bold?</b>', '<script>alert(1)</script> is shown as it was typed.'],
  ['', 'Without a subject it works as well.'],
] as const;

describe.skipIf(whyNoBrowser !== undefined)('every state of the page', () => {
  const { here, begin, post } = setUpForm('dynalite');
  const results: string[] = [];
  afterAll(() => {
    if (results.length > 0) process.stdout.write(`\naxe, light and dark:\n${results.join('\n')}\n`);
  });

  const check = async (page: Page, name: string, alsoDark = false): Promise<void> => {
    const rules = await expectAccessible(page);
    results.push(`  ${name.padEnd(24)} ${rules} rules, 0 violations`);
    await expectFits(page);
    await takePicture(page, name, alsoDark);
  };

  const arrive = async (options: BrowserContextOptions, email: string, branding?: object) =>
    begin(email, { locale: 'en-GB', ...options }, branding);

  /** One with inquiries; the order is the one in which they were sent. */
  const someone = async (name = anyone()): Promise<string> => {
    for (const [subject, body] of SAMPLES.toReversed()) await post(name, subject, body);
    return name;
  };

  const api = () => `${here.stack.url}/**`;

  /** Answers every POST of a page with a status. */
  const refuse = async (page: Page, status: number, headers: Record<string, string> = {}) =>
    page.route(api(), async (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status,
            headers: {
              'access-control-allow-origin': here.formUrl,
              'access-control-expose-headers': Object.keys(headers).join(),
              ...headers,
            },
            json: { message: 'a fault made for this test' },
          })
        : route.continue(),
    );

  it('signed out', async () => {
    const { page } = await here.open(WIDE);
    await page.goto(here.formUrl);
    await on(page).button('Sign in').waitFor();
    await check(page, 'signed-out', true);
    await page.goto(`${here.formUrl}/?error=access_denied&state=none`);
    await page.getByText('The sign-in didn’t work').waitFor();
    await check(page, 'sign-in-failed');
  });

  it('without its configuration', async () => {
    const { page } = await here.open(WIDE);
    await page.route('**/config.json', async (route) => route.fulfill({ status: 404 }));
    await page.goto(here.formUrl);
    await page.getByText('cannot start').waitFor();
    await check(page, 'not-configured');
  });

  it('loading, and then empty', async () => {
    const { page } = await here.open(WIDE);
    const { promise: mayLoad, resolve: load } = Promise.withResolvers<void>();
    await page.route(api(), async (route) => {
      await mayLoad;
      await route.continue();
    });
    await page.goto(here.formUrl);
    await on(page).signIn(anyone());
    await check(page, 'loading');
    load();
    await page.getByText('Nothing here yet').waitFor();
    await check(page, 'empty', true);
  });

  it('with inquiries, folded and unfolded', async () => {
    const email = await someone();
    const { page, button } = await arrive(WIDE, email);
    await button('Show all').first().waitFor();
    await check(page, 'list', true);
    await button('Show all').first().click();
    await check(page, 'unfolded');
  });

  it('sending, and sent', async () => {
    const { page, write, send } = await arrive(WIDE, await someone());
    const { promise: mayArrive, resolve: letArrive } = Promise.withResolvers<void>();
    await page.route(api(), async (route) => {
      if (route.request().method() === 'POST') await mayArrive;
      await route.continue();
    });
    await write(
      'Where is my parcel?',
      'It was to arrive on Monday.\n\nSince then the tracking page says “in transit”.',
    );
    await check(page, 'draft');
    await send.click();
    await check(page, 'sending');
    await page.getByText('taking longer than usual').waitFor();
    await check(page, 'sending-slowly');
    letArrive();
    await page.getByText('received your inquiry').waitFor();
    await check(page, 'sent', true);
  });

  it('asking before an empty inquiry is sent, and before a draft is left', async () => {
    const { page, send, button, write } = await arrive(WIDE, await someone());
    await send.click();
    await page.getByRole('dialog').waitFor();
    await check(page, 'ask-empty');
    await button('Go back').click();
    await write('A draft', '');
    await button('Sign out').click();
    await page.getByRole('dialog').waitFor();
    await check(page, 'ask-sign-out');
  });

  it.each([
    ['failed-server', 'Something went wrong', 500],
    ['failed-busy', 'very busy', 429],
    ['failed-session', 'Your session has ended', 401],
    ['failed-too-large', 'too long', 413],
  ])('%s: the text is kept and it is said why', async (name, text, status) => {
    const { page, write, send, alert } = await arrive(WIDE, await someone());
    await refuse(page, status);
    await write('Where is my parcel?', 'It was to arrive on Monday.');
    await send.click();
    await alert.getByText(text).waitFor();
    await check(page, name);
  });

  it.each(DEVICES)(
    'beyond the limit, asking about another version, and after an old attempt: %s',
    async (_, prefix, options) => {
      const { page, write, send, alert, status, button } = await arrive(options, await someone());
      await page.clock.setFixedTime(new Date('2026-11-21T13:53:00'));
      await refuse(page, 429, { 'retry-after': '700' });
      await write('Where is my parcel?', 'It was to arrive on Monday.');
      await send.click();
      await alert.getByText('in 12 minutes, at 14:05').waitFor();
      await check(page, `${prefix}failed-limit`, prefix === '');
      await page.unroute(api());
      await refuse(page, 422);
      await send.click();
      await page.getByRole('dialog').waitFor();
      await check(page, `${prefix}ask-version`, prefix === '');
      await button('Keep editing').click();
      await page.unroute(api());
      await refuse(page, 500);
      await send.click();
      await alert.getByText('We can’t tell yet').waitFor();
      await page.clock.setFixedTime(new Date('2026-11-22T14:00:00'));
      await send.click();
      await status.getByText('An earlier attempt may have arrived').waitFor();
      await check(page, `${prefix}old-attempt`, prefix === '');
    },
  );

  it('without a connection, and without an answer', async () => {
    const { page, context, write, send, alert, button } = await arrive(WIDE, await someone());
    await button('Show all').first().waitFor();
    await write('Where is my parcel?', 'It was to arrive on Monday.');
    await context.setOffline(true);
    await send.click();
    await alert.getByText('You’re offline').waitFor();
    await check(page, 'failed-offline');
    await context.setOffline(false);
    await page.route(api(), async (route) => route.abort('connectionrefused'));
    await send.click();
    await alert.getByText('The service doesn’t answer').waitFor();
    await button('Refresh').click();
    await page.getByText('couldn’t load').waitFor();
    await check(page, 'failed-unreachable');
  });

  it('near the limit, and over it', async () => {
    const { page, message } = await arrive(WIDE, await someone());
    for (const [name, size] of [
      ['near-limit', 395],
      ['over-limit', 401],
    ] as const) {
      await message.evaluate(
        (element, value) =>
          Object.assign(element, { value }).dispatchEvent(new Event('input', { bubbles: true })),
        'a long story '.repeat(40_000).slice(0, size * 1024),
      );
      await check(page, name, true);
    }
    await page.emulateMedia({ forcedColors: 'active' });
    await check(page, 'forced-over-limit', true);
  });

  it.each(DEVICES)(
    'of a company with topics, offline, and sent, also in forced colours: %s',
    async (_, prefix, options) => {
      const { page, context, write, button, send, subject } = await arrive(
        options,
        await someone(),
        BRANDING,
      );
      await button('Show all').first().waitFor();
      await button('Billing').click();
      await check(page, `${prefix}topic`, true);
      await page.emulateMedia({ forcedColors: 'active' });
      await check(page, `${prefix}forced-topic`, true);
      await page.emulateMedia({ forcedColors: 'none' });
      await context.setOffline(true);
      await page.getByText('You can keep writing').scrollIntoViewIfNeeded();
      await check(page, `${prefix}offline`, true);
      await write('Billing: my last invoice', 'It has the address of our old shop.');
      await send.click();
      await page.getByText('Nothing was sent').waitFor();
      await context.setOffline(false);
      await page.getByText('connected again').waitFor();
      await check(page, `${prefix}online-again`, true);
      await send.click();
      await page.getByText('received your inquiry').waitFor();
      await check(page, `${prefix}sent-branded`, true);
      await page.emulateMedia({ forcedColors: 'active' });
      await check(page, `${prefix}forced-sent`, true);
      await button('Write another').click();
      await subject.waitFor();
    },
  );

  it('in a window that is low, with the way back to the form', async () => {
    const { page, button } = await arrive(
      { viewport: { width: 900, height: 420 } },
      await someone(),
      BRANDING,
    );
    await button('Show all').first().click();
    await check(page, 'low', true);
    await page.mouse.wheel(0, 1_200);
    await button('Write to us').waitFor();
    await check(page, 'low-back', true);
  });

  it('on a page of 320 px', async () => {
    const { page, button, send, write, alert } = await arrive(NARROW, await someone());
    await check(page, 'narrow');
    await page.getByRole('heading', { name: 'Your inquiries' }).scrollIntoViewIfNeeded();
    await button('Show all').first().click();
    await page
      .getByRole('heading', { name: 'Your inquiries' })
      .evaluate((element) => element.scrollIntoView());
    await button('Write to us').waitFor();
    await check(page, 'narrow-list', true);
    await page.route(api(), async (route) => route.abort('connectionrefused'));
    await write('Where is my parcel?', 'It was to arrive on Monday.');
    await send.click();
    await alert.getByText('The service doesn’t answer').waitFor();
    await check(page, 'narrow-failed');
    await button('Sign out').click();
    await page.getByRole('dialog').waitFor();
    await check(page, 'narrow-ask');
  });
});
