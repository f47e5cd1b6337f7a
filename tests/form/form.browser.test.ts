/** The contact form in a real browser, on the whole local stack. */
import type { Locator, Route } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import {
  anyone,
  configure,
  expectAccessible,
  on,
  PHONE,
  whyNoBrowser,
} from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';

/** dynalite has no transactions, which keys need. */
const hasKeys = inject('stack')?.engine.name === 'dynamodb-local';
if (!hasKeys && whyNoBrowser === undefined) {
  process.stdout.write(
    `\nSKIPPED: keys in the browser, because only DynamoDB Local has transactions.\n`,
  );
}

describe.skipIf(whyNoBrowser !== undefined)('the contact form', () => {
  const {
    here,
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
  } = setUpForm();

  const edgesOf = async (place: Locator) => {
    const { y = Number.NaN, height = 0 } = (await place.boundingBox()) ?? {};
    return { top: y, bottom: y + height };
  };
  /** Whether all of an element is in the window. */
  const isInView = async (place: Locator): Promise<boolean> => {
    const { top, bottom } = await edgesOf(place);
    return top >= 0 && bottom <= (place.page().viewportSize()?.height ?? 0);
  };

  it('sends, shows the inquiry on top, and still does after a reload', async () => {
    const { submit, page, status, subjects, complaints, email } = await begin();
    const list = page.getByRole('heading', { name: 'Your inquiries' });
    // One column until there is an inquiry, as soon as the list is known to be empty.
    await list.waitFor({ state: 'hidden' });
    for (const text of ['first', 'second']) {
      await submit(text, 'one\n\ntwo');
      await expect.poll(() => subjects.first().textContent()).toBe(text);
    }
    await status.getByText('received your inquiry').waitFor();
    expect(await subjects.allTextContents()).toEqual(['second', 'first']);
    expect(await page.getByRole('listitem').first().locator('.text').innerText()).toBe(
      'one\n\ntwo',
    );
    await page.reload();
    await expect.poll(() => subjects.allTextContents()).toEqual(['second', 'first']);
    expect(await stored(email)).toEqual(['second', 'first']);
    expect(await list.isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('keeps a draft for its user over reload, sign-out and a new tab, until it is sent', async () => {
    const { deliver, page, context, button, write, subject, message, email } = await begin();
    await deliver('mine', 'secret');
    await write('a draft', 'with\ntwo lines');
    await page.reload();
    expect(await subject.inputValue()).toBe('a draft');
    await button('Sign out').click();
    await button('Keep it and sign out').click();
    await on(page).signIn(anyone());
    expect(await subject.inputValue()).toBe('');
    expect(await page.content()).not.toContain('secret');
    await button('Sign out').click();
    await on(page).signIn(email);
    expect(await message.inputValue()).toBe('with\ntwo lines');
    expect(await on(await openTab(context)).subject.inputValue()).toBe('a draft');
    await deliver();
    await page.reload();
    await page.getByRole('listitem').first().waitFor();
    expect(await subject.inputValue()).toBe('');
  });

  it('sends once on a double click, and on Ctrl+Enter while sending, without moving a focus that is elsewhere', async () => {
    const email = anyone();
    await post(email, 'before');
    const { page, write, send, message, button, status, posts } = await begin(email);
    const release = await hold(page, 'POST');
    await write('once');
    await send.dblclick();
    await message.press('Control+Enter');
    expect(await send.textContent()).toBe('Sending…');
    await button('Refresh').focus();
    release();
    await page.locator('.sent').waitFor();
    expect(await page.locator(':focus').textContent()).toBe('Refresh');
    await status.and(page.locator('[role=status]')).getByText('received your inquiry').waitFor();
    expect(posts).toHaveLength(1);
    expect(await stored(email)).toEqual(['once', 'before']);
  });

  it('says at the field that a message is missing, until one is written, and sends nothing', async () => {
    const { send, write, message, page, posts } = await begin();
    const said = page.locator('#size');
    for (const text of ['', '  ']) {
      await write(text, text);
      await send.click();
      await expect.poll(() => said.textContent()).toBe('Please write a message.');
      expect(await message.and(page.locator(':focus')).getAttribute('aria-invalid')).toBe('true');
    }
    expect([await page.getByRole('dialog').count(), posts]).toEqual([0, []]);
    await page.keyboard.type('a');
    expect([await said.textContent(), await message.getAttribute('aria-invalid')]).toEqual([
      '',
      null,
    ]);
  });

  it('says before anything is written that no mail can go to the address, and what to do', async () => {
    const email = anyone().replace('ana', 'müller');
    const { page, deliver } = await begin(email);
    const told = page.locator('form').getByText('We can’t send email to');
    expect((await told.textContent())?.replaceAll(/[\u2068\u2069]/g, '')).toContain(
      `${email}. In your message, `,
    );
    await deliver('My number is 555 0100');
    await page
      .locator('.sent')
      .getByText('how else we can reach you, please write another')
      .waitFor();
    expect(await page.getByText('by email to').count()).toBe(0);
  });

  it('breaks no word of the name on a phone, where language and sign-out are in a menu', async () => {
    const { page, button } = await begin(
      anyone(),
      { viewport: { width: 344, height: 640 } },
      async (opened) => configure(opened, { name: 'Example Shop' }),
    );
    const lines = `(() => {
      const text = document.querySelector('#brand').lastChild;
      const word = new Range();
      word.setStart(text, 0);
      word.setEnd(text, 'Example'.length);
      return word.getClientRects().length;
    })()`;
    expect(await page.evaluate(lines)).toBe(1);
    expect(await button('Sign out').isVisible()).toBe(false);
    await button('Menu').click();
    await expectAccessible(page);
    await button('Sign out').click();
    await button('Sign in').waitFor();
  });

  it('stays in view beside a list at 1280 × 800', async () => {
    const email = anyone();
    for (let count = 0; count < 12; count++) await post(email, `number ${count}`);
    const { page, send } = await begin(email, { viewport: { width: 1280, height: 800 } });
    await page.getByText('number 0').scrollIntoViewIfNeeded();
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
    expect(await isInView(send)).toBe(true);
  });

  it('works by keyboard alone, from sign-in to the inquiry that was sent', async () => {
    const { page } = await here.open();
    const { keyboard } = page;
    const { button, subject, message } = on(page);
    const tabTo = async (place: Locator) => {
      for (let presses = 0; presses < 20; presses++) {
        await keyboard.press('Tab');
        if ((await place.and(page.locator(':focus')).count()) === 1) return;
      }
      throw new Error(`Tab does not lead to ${String(place)}`);
    };
    await page.goto(here.formUrl);
    await button('Sign in').waitFor();
    await tabTo(button('Sign in'));
    await keyboard.press('Enter');
    const email = page.getByRole('textbox', { name: 'E-mail address' });
    await email.waitFor();
    await tabTo(email);
    await keyboard.type(anyone());
    await keyboard.press('Enter');
    await subject.waitFor();
    await tabTo(subject);
    await keyboard.type('by hand');
    await tabTo(message);
    await keyboard.type('line\nline');
    await tabTo(button('Send inquiry'));
    await keyboard.press('Enter');
    await page.getByText('received your inquiry').waitFor();
    await tabTo(button('by hand'));
    await keyboard.press('Enter');
    expect(await button('by hand').getAttribute('aria-expanded')).toBe('true');
  });

  describe('when sending fails', () => {
    it('sends no key of yesterday, which the service has forgotten: it says so, and then sends with another', async () => {
      const { deliver, submit, page, send, alert, status, subject, posts, email } = await begin();
      await intercept(page, 'POST', async (route) =>
        posts.length <= 2 ? route.abort('connectionreset') : route.continue(),
      );
      await submit('patient');
      await alert.getByText('We can’t tell yet').waitFor();
      await page.evaluate(`{
        const name = Object.keys(sessionStorage).find((key) => key.startsWith('inquiries.draft.'));
        const draft = JSON.parse(sessionStorage.getItem(name));
        draft.pending -= 24 * 3_600_000;
        sessionStorage.setItem(name, JSON.stringify(draft));
      }`);
      await page.reload();
      await status.getByText('An earlier attempt may have arrived').waitFor();
      expect(await subject.inputValue()).toBe('patient');
      expect(await send.textContent()).toBe('Send inquiry');
      expect(posts).toHaveLength(2);
      await deliver();
      expect(posts[1]).toBe(posts[0]);
      expect(posts[2]).not.toBe(posts[0]);
      expect(await stored(email)).toEqual(['patient']);
    });

    it('requests nothing offline and says that nothing was sent, until the browser is online again', async () => {
      const { page, context, write, send, alert, status, subject, posts, email } = await begin();
      await write('later');
      await context.setOffline(true);
      await status.getByText('You can keep writing').waitFor();
      await subject.press('End');
      await page.keyboard.type('!');
      expect(await status.textContent()).toContain('You’re offline');
      await send.click();
      // At once: without waiting for anything.
      expect(await alert.textContent()).toMatch(/^You’re offlineNothing was sent\./);
      expect(await status.textContent()).toBe('');
      await context.setOffline(false);
      await status.getByText('You’re connected again').waitFor();
      expect(await alert.textContent()).toBe('');
      expect(await send.textContent()).toBe('Send inquiry');
      expect(posts).toEqual([]);
      await send.click();
      await expect.poll(() => stored(email)).toEqual(['later!']);
    });

    it('shows the size from four fifths of the limit on, takes a 413, and refuses itself what cannot fit', async () => {
      const { send, alert, message, page, requests } = await begin();
      await paste(message, 'x'.repeat(320 * 1024));
      await page.getByText('320 kB of 400 kB').waitFor();
      // Under the limit by itself, over it with the names and keys that are stored with it.
      await paste(message, 'x'.repeat(400 * 1024 - 10));
      await page.getByText('400 kB of 400 kB').waitFor();
      await send.click();
      await alert.getByText('Your inquiry is too long').waitFor();
      const before = requests.length;
      // The same text again would be refused again.
      expect(await send.textContent()).toBe('Send inquiry');
      await send.click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('body');
      expect(requests).toHaveLength(before);
      await paste(message, 'é'.repeat(200 * 1024 + 1));
      const said = page.locator('#size');
      await expect
        .poll(() => said.textContent())
        .toBe('Too long by 2 bytes. Please shorten your message.');
      await send.click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('body');
      expect(requests).toHaveLength(before);
      // That is all that is said.
      const regions = page.locator('form').locator('[role=status], [role=alert], [aria-live]');
      expect((await regions.allTextContents()).filter((text) => text !== '')).toHaveLength(1);
      expect(await isInView(said)).toBe(true);
    });
  });

  describe('after sending', () => {
    it('shows on 320 × 640 what becomes of the inquiry, without scrolling, and then an empty form', async () => {
      const { submit, page, context, status, alert, button, subject, subjects, email } =
        await begin(`maria-${anyone()}`, PHONE, async (opened) =>
          configure(opened, {
            expectation: 'We answer within two working days.',
            answersFrom: 'team@shop.example',
          }),
        );
      await submit('Where is my parcel?', 'line\n'.repeat(40));
      const panel = page.locator('.sent');
      await panel.waitFor();
      const [{ id } = { id: '' }] = await inquiriesOf(email);
      const said = (await panel.innerText()).replaceAll(/[\u2068\u2069]/g, '');
      expect(said).toContain('We answer within two working days.');
      expect(said).toContain(`by email from team@shop.example to ${email}.`);
      expect(said.split(email)).toHaveLength(2);
      const reference = id.slice(0, 13);
      expect(said).toMatch(new RegExp(`Reference\\s+${reference}`));
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      expect(await isInView(panel)).toBe(true);
      // Announced by the focus, and by nothing else.
      expect(await page.locator(':focus').textContent()).toBe('We’ve received your inquiry');
      expect(await status.and(page.locator('[role=status]')).textContent()).toBe('');
      expect(await alert.textContent()).toBe('');
      await button('Copy reference').click();
      await status.and(page.locator('[role=status]')).getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(reference);
      await button('Write another').click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('subject');
      expect(await subject.inputValue()).toBe('');
      await submit('the next');
      await expect.poll(() => subjects.first().textContent()).toBe('the next');
      await context.setOffline(true);
      expect(await page.locator('form').textContent()).not.toContain('offline');
      await button('Write another').click();
      await status.getByText('You’re offline').waitFor();
    });
  });

  describe('the fields', () => {
    it('take a topic as the subject, put it before what was typed, and mark it', async () => {
      const topics = ['Billing', { en: 'Delivery', de: 'Lieferung' }];
      const { page, button, subject } = await begin(anyone(), {}, async (opened) =>
        configure(opened, { topics }),
      );
      const group = page.getByRole('group', { name: 'Topics' });
      const shown = async () => [
        await subject.inputValue(),
        (await group.locator('[aria-pressed=true]').allTextContents()).join(),
      ];
      expect(await shown()).toEqual(['', '']);
      await button('Billing').click();
      expect(await shown()).toEqual(['Billing', 'Billing']);
      // A topic is not a message.
      await button('Send').click();
      await page.getByText('Please write a message.').waitFor();
      await page.reload();
      await expect.poll(shown).toEqual(['Billing', 'Billing']);
      await subject.fill('my text');
      expect(await shown()).toEqual(['my text', '']);
      await button('Delivery').click();
      expect(await shown()).toEqual(['Delivery: my text', 'Delivery']);
      await button('Delivery').click();
      expect(await shown()).toEqual(['my text', '']);
    });

    it('grow with the message; the button stays reachable in a low window', async () => {
      const { page, message, send } = await begin(anyone(), {
        viewport: { width: 700, height: 900 },
      });
      const height = async (): Promise<number> =>
        message.evaluate((element) => element.clientHeight);
      const empty = await height();
      await paste(message, 'line\n'.repeat(20_000));
      expect(await height()).toBeGreaterThan(empty + 50);
      for (const low of [400, 900]) {
        await page.setViewportSize({ width: 700, height: low });
        // The page can be scrolled beside the box, and the button is seen with it.
        expect(await height()).toBeLessThan(low * 0.6);
        await send.scrollIntoViewIfNeeded();
        expect(await isInView(send)).toBe(true);
      }
    });

    it('have a button that leads back to them while a long list hides them, and that covers nothing at its end', async () => {
      const email = anyone();
      for (let number = 1; number <= 12; number++) {
        await post(email, `number ${number}`, 'line\n'.repeat(5));
      }
      const { page, button, subject, subjects } = await begin(email, {
        viewport: { width: 900, height: 480 },
      });
      await expect.poll(() => subjects.count()).toBe(12);
      const back = button('Write to us');
      expect(await back.isVisible()).toBe(false);
      const middle = page.getByRole('listitem').nth(6);
      await middle.evaluate((element) => element.scrollIntoView());
      await back.waitFor();
      expect(await isInView(back)).toBe(true);
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      const { top, bottom } = await edgesOf(back);
      expect(top).toBeGreaterThanOrEqual((await edgesOf(page.locator('.list'))).bottom);
      expect(bottom).toBeLessThanOrEqual((await edgesOf(page.locator('.view'))).bottom);
      await back.click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('subject');
      expect(await isInView(subject)).toBe(true);
      await expect.poll(() => back.isVisible()).toBe(false);
    });
  });

  describe.skipIf(!hasKeys)('with one key per draft', () => {
    /** The service gets each inquiry, the page gets no answer. */
    const lose = async (route: Route): Promise<void> => {
      await route.fetch();
      await route.abort('connectionreset');
    };
    /** Sends an inquiry, all of whose answers are lost; those to later requests are not. */
    const sendUnanswered = async (
      { page, submit, alert }: Awaited<ReturnType<typeof begin>>,
      text: string,
    ): Promise<void> => {
      await intercept(page, 'POST', lose);
      await submit(text);
      await alert.getByText('We can’t tell yet').waitFor();
      await page.unroute(`${here.stack.url}/**`);
    };

    it('stores one inquiry when two tabs send the same draft at the same time, and both say sent', async () => {
      const { page, context, write, email } = await begin();
      await write('one draft', 'in two tabs');
      const other = await openTab(context);
      const { promise: bothSend, resolve } = Promise.withResolvers<void>();
      let posts = 0;
      for (const tab of [page, other]) {
        await intercept(tab, 'POST', async (route) => {
          if (++posts === 2) resolve();
          await bothSend;
          await route.continue();
        });
      }
      await Promise.all([page, other].map(async (tab) => on(tab).send.click()));
      for (const tab of [page, other]) {
        await on(tab).status.getByText('received your inquiry').waitFor();
        expect(await on(tab).subjects.allTextContents()).toEqual(['one draft']);
      }
      expect(await stored(email)).toEqual(['one draft']);
    });

    it.each([
      ['before', []],
      ['after', ['interrupted']],
    ])('finishes sending once after a reload %s the inquiry is stored', async (moment, before) => {
      const { submit, page, button, status, subject, subjects, email } = await begin();
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      let isFirst = true;
      await intercept(page, 'POST', async (route) => {
        if (!isFirst) return route.continue();
        isFirst = false;
        if (moment === 'after') await route.fetch();
        reach();
        // No answer. The route stays: without one the browser would continue this request.
      });
      await submit('interrupted');
      await reached;
      expect(await stored(email)).toEqual(before);
      await page.reload();
      await status.getByText('received your inquiry').waitFor();
      expect(await subjects.allTextContents()).toEqual(['interrupted']);
      await button('Write another').click();
      expect(await subject.inputValue()).toBe('');
      expect(await stored(email)).toEqual(['interrupted']);
    });

    it('finishes sending once after a sign-in when the outcome was unknown', async () => {
      const form = await signIn();
      const { deliver, page, alert, email } = form;
      await sendUnanswered(form, 'arrived');
      await expire(page, await here.stack.issuer.token({ email, expiresIn: -60 }));
      await page.reload();
      await alert.getByText('Your session has ended').waitFor();
      await alert.getByText('We can’t tell yet').waitFor();
      await deliver();
      expect(await stored(email)).toEqual(['arrived']);
    });

    it('asks before it sends another version of what was sent, unless the form was emptied; nothing is lost by any answer', async () => {
      const form = await begin();
      const {
        write,
        deliver,
        page,
        button,
        send,
        status,
        message,
        subjects,
        requests,
        posts,
        email,
      } = form;
      await sendUnanswered(form, 'first version');
      await write('second version', 'longer');
      await page.reload();
      // The list is asked for at the same time.
      await expect.poll(() => subjects.allTextContents()).toEqual(['first version']);
      // Nothing is sent by itself: the text was edited after the attempt.
      expect(posts).toHaveLength(2);
      requests.length = 0;
      await send.click();
      await page.getByRole('dialog').getByText('An earlier version of this inquiry').waitFor();
      // The list behind the question is loaded again.
      await expect.poll(() => requests.filter((url) => url.includes('limit='))).toHaveLength(1);
      await button('Keep editing').click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('body');
      expect(await message.inputValue()).toBe('longer');
      expect(await stored(email)).toEqual(['first version']);
      await page.reload();
      expect(await message.inputValue()).toBe('longer');
      await send.click();
      await button('Send this version too').click();
      await status.getByText('received your inquiry').waitFor();
      expect(await subjects.allTextContents()).toEqual(['second version', 'first version']);
      expect(await stored(email)).toEqual(['second version', 'first version']);
      await sendUnanswered(form, 'one');
      await write('');
      await deliver('another');
      expect((await stored(email)).slice(0, 2)).toEqual(['another', 'one']);
    });
  });

  describe('the page', () => {
    it('sends requests only to its own host, the issuer and the API, and runs no other script', async () => {
      const { page, requests, complaints } = await signIn();
      const hosts = new Set(requests.map((url) => new URL(url).origin));
      expect([...hosts].toSorted()).toEqual(
        [here.formUrl, here.stack.url, here.stack.issuer.url].toSorted(),
      );
      expect(complaints).toEqual([]);
      const markup = page.evaluate(`document.createElement('p').innerHTML = '<b>x</b>'`);
      await expect(markup).rejects.toThrow(/TrustedHTML/);
      const foreign = page.evaluate(`fetch('http://127.0.0.1:9/').catch((error) => error.message)`);
      expect(await foreign).toBe('Failed to fetch');
      expect(complaints.join('\n')).toContain('Content Security Policy');
    });

    it('moves nothing while it loads', async () => {
      const email = anyone();
      for (const number of [1, 2, 3]) await post(email, `number ${number}`, 'line\n'.repeat(30));
      const { page, subjects } = await begin(email, {}, async (opened) =>
        opened.addInitScript(`
          globalThis.shift = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
          }).observe({ type: 'layout-shift', buffered: true });`),
      );
      await expect.poll(() => subjects.count()).toBe(3);
      await page.waitForTimeout(300);
      expect(await page.evaluate('shift')).toBeLessThan(0.01);
    });

    it('moves nothing about when motion is to be reduced', async () => {
      const { page, subject, send } = await begin(anyone(), { reducedMotion: 'reduce' });
      await subject.fill('x');
      await intercept(page, 'POST', async () => undefined);
      await send.click();
      expect(await page.evaluate('document.getAnimations({ subtree: true }).length')).toBe(0);
    });
  });
});
