/** The operators' page in a real browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MailState } from '../../inbox/connect.ts';
import { serveInbox } from '../../inbox/server.ts';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { showAddress, showInvisible } from '../../src/invisible.ts';
import {
  checkPage,
  expectFits,
  PHONE,
  SAMPLES,
  setUp,
  takePicture,
  whyNoBrowser,
} from '../helpers/chromium.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';
import { openInbox, runInbox } from '../helpers/inbox.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 940 }, locale: 'en-GB' };
describe.skipIf(whyNoBrowser !== undefined)('the operators’ page', () => {
  const browser = setUp();

  /** The page on a table of its own, and what a colleague does in the same table. */
  const begin = async (options = WIDE, mail: MailState = 'sent') => {
    const own = await openInbox();
    const { inbox } = own;
    const connection = { stage: 'local', table: own.name, inbox, respondent: async () => 'olga' };
    const savedReplies = [{ title: 'Thanks', text: 'Hello {name},\n\nthank you ({reference}).' }];
    const server = await serveInbox({ ...connection, mail: async () => mail }, { savedReplies });
    onTestFinished(server.close);
    const visit = await browser.open(options);
    const { page } = visit;
    await page.clock.install();
    const create = (subject: string, email = 'ana@example.com', body = 'Please answer.') =>
      own.add(0, { subject, email, body });
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    return {
      ...visit,
      own,
      create,
      inbox,
      server,
      createSamples: () =>
        Promise.all(
          SAMPLES.map(([subject, body, email], n) =>
            own.add(SAMPLES.length - n, { email, subject, body }),
          ),
        ),
      /** Opens the page and waits for the list. */
      async arrive() {
        await page.goto(server.url);
        await page.getByRole('heading', { name: /^\d+ unanswered/ }).waitFor();
        await page.locator('.ib-rows[aria-busy]').waitFor({ state: 'detached' });
      },
      /** Lets the time to undo pass. */
      settle: async () => page.clock.fastForward(9_000),
      button,
      rows: page.locator('a.ib-row'),
      subjects: page.locator('.ib-subject'),
      heading: page.locator('.ib-read h2'),
      text: page.locator('.ib-text'),
      answer: page.locator('.ib-answer'),
      toast: page.locator('.ib-toast'),
      reply: page.getByRole('textbox', { name: 'Reply to' }),
      search: page.getByRole('searchbox'),
      focused: async () =>
        page.evaluate('document.activeElement.textContent || document.activeElement.id'),
    };
  };

  it('lists the unanswered ones, oldest first, answers one after the other, and keeps to the colours and motion of the system', async () => {
    const here = await begin();
    const { arrive, page, subjects, rows, heading, text, reply, button, toast, inbox, settle } =
      here;
    const created = (await here.createSamples()).toReversed();
    const [newest, second] = created;
    await arrive();
    const names = created.map(({ subject }) => subject || 'No subject');
    await expect.poll(() => subjects.allTextContents()).toEqual(names.toReversed());
    expect(await page.title()).toBe('(5) Inbox of local');
    expect(await rows.nth(1).innerText()).toContain('is shown as it was typed.');
    await checkPage(page);
    await button('Oldest first').click();
    await expect.poll(() => subjects.allTextContents()).toEqual(names);
    await rows.first().click();
    await expect.poll(() => heading.textContent()).toBe(newest?.subject);
    expect(await text.textContent()).toBe(newest?.body);
    expect(await page.locator('.ib-meta').innerText()).toContain(newest?.id.slice(0, 13));
    expect(await page.getByText('The reply is mailed to ana@example.com.').isVisible()).toBe(true);
    const written =
      'Bonjour Ana,\n\navec plaisir : une table près de la fenêtre vous attend.\n\nOlga';
    await reply.fill(written);
    await checkPage(page);
    await takePicture(page, 'inbox');
    await button('Send reply').click();
    await expect.poll(() => heading.textContent()).toBe(second?.subject);
    expect(await page.title()).toBe('(4) Inbox of local');
    expect(await toast.innerText()).toContain('ana@example.com');
    expect(await inbox.get(newest?.id ?? '')).not.toHaveProperty('reply_at');
    await page.mouse.move(900, 400);
    await settle();
    await toast.getByText('The answer is stored').waitFor();
    expect(await inbox.get(newest?.id ?? '')).toMatchObject({ reply: written, respondent: 'olga' });
    await button('Closed').click();
    await expect.poll(() => subjects.allTextContents()).toEqual([newest?.subject]);
    expect(await rows.first().innerText()).toContain('Answered by olga');
    await button('All').click();
    await expect.poll(() => subjects.count()).toBe(5);
    await rows.first().click();
    await expect.poll(() => page.locator('a.ib-row[aria-current]').count()).toBe(1);
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    // What is chosen differs from the rest by more than a colour that the system replaces.
    const backgroundOf = async (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    for (const [chosen, other] of [
      ['.ib-shows [aria-pressed=true]', '.ib-shows [aria-pressed=false]'],
      ['a.ib-row[aria-current]', 'a.ib-row:not([aria-current])'],
    ] as const) {
      expect(await backgroundOf(chosen)).not.toBe(await backgroundOf(other));
    }
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await page.reload();
    await expect.poll(() => here.answer.innerText()).toContain('Answered by olga');
    expect(here.complaints).toEqual([]);
  });

  it('sends nothing without a text, inserts a saved one, and undoes an answer and a dismissal', async () => {
    const { create, arrive, rows, button, page, heading, reply, inbox, settle, toast } =
      await begin();
    const { id } = await create('Spam', 'ana.lopez+shop@example.com', 'long\n'.repeat(300));
    await arrive();
    await rows.first().click();
    await button('Send reply').click();
    await page.getByText('Write the answer first.').waitFor();
    expect(await page.locator('.ib-read').evaluate((element) => element.scrollTop)).toBe(0);
    await page.getByText('Saved replies').click();
    await checkPage(page);
    await button('Thanks').click();
    expect(await reply.inputValue()).toBe(`Hello Ana Lopez,\n\nthank you (${id.slice(0, 13)}).`);
    await reply.fill('Too early');
    await button('Send reply').click();
    await page.getByText('Nothing to answer.').waitFor();
    await button('Undo').click();
    await expect.poll(() => reply.inputValue()).toBe('Too early');
    await button('Dismiss').click();
    await page.getByText('Nothing to answer.').waitFor();
    await checkPage(page);
    await page.keyboard.press('u');
    await expect.poll(() => heading.textContent()).toBe('Spam');
    await settle();
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
    await button('Dismiss').click();
    await settle();
    await toast.getByText('Dismissed').waitFor();
    await expect
      .poll(() => inbox.get(id))
      .toMatchObject({ respondent: 'olga', reply_at: expect.any(String) });
    expect(await inbox.get(id)).not.toHaveProperty('reply');
  });

  it('sends what waits, once, when the next answer is given and when the page is left', async () => {
    const { create, arrive, rows, button, page, reply, inbox, heading } = await begin();
    const [one, two] = [await create('One'), await create('Two')];
    const sent: string[] = [];
    page.on(
      'request',
      (request) => void (request.method() === 'POST' && sent.push(request.url().slice(-42, -6))),
    );
    await arrive();
    await rows.first().click();
    await reply.fill('To one');
    await button('Send reply').click();
    await expect.poll(() => heading.textContent()).toBe('Two');
    expect(sent).toEqual([]);
    await reply.fill('To two');
    await button('Send reply').click();
    await expect.poll(() => inbox.get(one.id)).toMatchObject({ reply: 'To one' });
    expect(await inbox.get(two.id)).not.toHaveProperty('reply');
    // Nothing asks whether to leave: nothing is lost.
    await page.goto('about:blank');
    await expect.poll(() => inbox.get(two.id)).toMatchObject({ reply: 'To two' });
    await page.goBack();
    await page.getByText('Nothing to answer.').waitFor();
    // The second went out with `keepalive`, which the browser does not report.
    expect(sent).toEqual([one.id]);
  });

  it('shows the answer of someone else who has already answered, and keeps the text', async () => {
    const { create, arrive, rows, reply, button, page, toast, answer, inbox, settle } =
      await begin();
    const { id } = await create('Who is faster?');
    await arrive();
    await rows.first().click();
    await reply.fill('My answer');
    await inbox.answer(id, { reply: 'The answer of Pete', respondent: 'pete' });
    await button('Send reply').click();
    await settle();
    await toast.getByText(/by pete at \d+ \w+ \d+, \d\d:\d\d/).waitFor();
    await checkPage(page);
    await button('Open it').click();
    await expect.poll(() => answer.innerText()).toContain('The answer of Pete');
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My answer');
    await checkPage(page);
    await button('Delete this text').click();
    expect(await unsent.count()).toBe(0);
    expect(await inbox.get(id)).toMatchObject({ reply: 'The answer of Pete', respondent: 'pete' });
  });

  it('brings back an answer that failed, and treats it as stored when only its response was lost', async () => {
    const { create, arrive, rows, reply, button, page, toast, inbox, settle } = await begin();
    const { id } = await create('Once');
    await arrive();
    await rows.first().click();
    await reply.fill('Once only.\n');
    await page.route('**/reply', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button('Send reply').click();
    await settle();
    await toast.getByText('Not answered').waitFor();
    expect(await rows.first().innerText()).toContain('Draft');
    await page.unroute('**/reply');
    // Not by the page's own look at it, which would find the answer.
    await page.route(`**/inquiries/${id}`, async (route) => {
      const {
        reply: _,
        reply_at: __,
        ...row
      } = (await (await route.fetch()).json()) as Record<string, unknown>;
      await route.fulfill({ json: row });
    });
    await button('Open it').click();
    await expect.poll(() => reply.inputValue()).toBe('Once only.\n');
    await button('Send reply').click();
    await page.unroute(`**/inquiries/${id}`);
    await settle();
    await toast.getByText('The answer is stored').waitFor();
    expect(await inbox.get(id)).toMatchObject({ reply: 'Once only.' });
  });

  it('keeps a draft for each inquiry, over a reload too, and warns before it is lost', async () => {
    const { create, arrive, rows, reply, page, heading, button } = await begin();
    await create('One');
    await create('Two');
    await arrive();
    await rows.nth(1).click();
    await reply.fill('about two');
    await rows.nth(0).click();
    await expect.poll(() => heading.textContent()).toBe('One');
    expect(await reply.inputValue()).toBe('');
    await reply.fill('about one');
    expect(await rows.nth(1).innerText()).toContain('Draft');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await expect.poll(() => reply.inputValue()).toBe('about one');
    expect(asked).toEqual(['beforeunload']);
    await rows.nth(1).click();
    await expect.poll(() => heading.textContent()).toBe('Two');
    expect(await reply.inputValue()).toBe('about two');
    await button('Send reply').click();
    await expect.poll(() => heading.textContent()).toBe('One');
    await reply.fill('');
    await page.reload();
    await expect.poll(() => heading.textContent()).toBe('One');
    expect(asked).toEqual(['beforeunload']);
  });

  it('searches everything by reference, email and text, without case and accents, and goes on when asked', async () => {
    const { create, arrive, search, subjects, page, inbox, button } = await begin();
    const { id } = await create('The oldest', 'cleo@example.com', 'Wo bleibt meine Rücksendung?');
    await inbox.answer(id, { reply: 'Yes.', respondent: 'pete' });
    await Promise.all(
      Array.from({ length: 120 }, (_, n) => create(`Number ${n + 1}`, 'ben@example.com')),
    );
    await arrive();
    await expect.poll(() => subjects.count()).toBe(100);
    await button('Show newer ones').click();
    await expect.poll(() => subjects.count()).toBe(120);
    for (const text of ['RUCKSENDUNG', 'Cleo@', id.slice(0, 13)]) {
      await search.fill(text);
      await page.keyboard.press('Enter');
      await page.getByText('Searched 121 inquiries: ').waitFor();
      await expect.poll(() => subjects.allTextContents()).toContain('The oldest');
    }
    await search.fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('Searched 121 inquiries: 0 hits.').waitFor();
    await checkPage(page);
    await search.fill('');
    await expect.poll(() => subjects.count()).toBe(100);
    // As much as one request may read.
    const [parts, next]: [string[], string] = [[], '01997b2e-0000-7000-8000-000000000000'];
    await page.route('**/inquiries?*text=f*', async (route) => {
      parts.push(new URL(route.request().url()).searchParams.get('from') ?? '');
      if (parts.length > 1) return route.continue();
      return route.fulfill({ json: { inquiries: [], searched: 5_000, next } });
    });
    await search.fill('f');
    await page.keyboard.press('Enter');
    await page.getByText('Searched 5,000 inquiries: 0 hits, and there are older ones.').waitFor();
    await button('Search older ones').click();
    await expect.poll(() => parts).toEqual(['', next]);
    await page.getByText('Searched 5,000 inquiries').waitFor();
    expect(await subjects.count()).toBe(0);
  });

  it('shows new ones by itself, and takes away what a colleague has answered, without moving what is read', async () => {
    const { own, create, arrive, page, rows, subjects, inbox, heading, reply, button } =
      await begin();
    const old = await Promise.all(
      Array.from({ length: 40 }, (_, n) => own.add(1_000_000 - n, { subject: `Old ${n}` })),
    );
    await arrive();
    await button('Oldest first').click();
    await expect.poll(() => subjects.first().textContent()).toBe('Old 39');
    await rows.nth(20).click();
    await expect.poll(() => heading.textContent()).toBe('Old 19');
    await reply.fill('half a senten');
    const top = (await rows.nth(20).boundingBox())?.y;
    await inbox.answer(old[39]?.id ?? '', { reply: 'Done.', respondent: 'pete' });
    await create('New one');
    await create('New two');
    await page.clock.fastForward(26_000);
    await page.getByText('2 new inquiries').waitFor({ state: 'attached' });
    expect(await subjects.first().textContent()).toBe('New two');
    expect(await page.title()).toBe('(41) Inbox of local');
    const current = page.locator('a.ib-row[aria-current]');
    expect(await current.innerText()).toContain('Old 19');
    expect(Math.abs(((await current.boundingBox())?.y ?? 0) - (top ?? 0))).toBeLessThan(2);
    expect([await reply.inputValue(), await page.evaluate('document.activeElement.id')]).toEqual([
      'half a senten',
      'reply',
    ]);
  });

  it('says before anyone writes that no mail goes out, and what became of replies', async () => {
    const { own, create, arrive, page, rows, button, inbox, answer, settle } = await begin(
      WIDE,
      'none',
    );
    const bounced = await create('Bounced');
    await inbox.answer(bounced.id, { reply: 'Yes.', respondent: 'pete' });
    const state = { undelivered: 'bounce', undelivered_at: new Date().toISOString() } as const;
    await own.deliveries
      .put({ inquiry: bounced.id, mail: 'reply', ...state, expires_at: 9_999_999_999 })
      .go();
    const noMail = await create('Garantie', 'müller@example.de');
    await own.add(-1, { subject: 'soon', expires_at: Math.floor(Date.now() / 1_000) + 3 * 86_400 });
    await arrive();
    expect(await rows.nth(0).innerText()).toContain('No mail can be sent');
    expect(await rows.nth(1).innerText()).toContain('Expires in 2d');
    await rows.nth(1).click();
    await page.getByText('This stage sends no mail').waitFor();
    await page.getByText('Details').click();
    expect(await page.locator('.ib-details').innerText()).toContain('Expires');
    await checkPage(page);
    await rows.nth(0).click();
    await page.getByText('No mail can be sent to this address').waitFor();
    await checkPage(page);
    await page.getByRole('textbox').last().fill('Ja.');
    await button('Record the answer').click();
    await settle();
    await expect.poll(() => inbox.get(noMail.id)).toMatchObject({ reply: 'Ja.' });
    await button('Closed').click();
    await expect
      .poll(() => rows.last().innerText())
      .toContain('Could not be delivered: the mail came back');
    await rows.last().click();
    await answer.waitFor();
    expect(await page.getByText('The reply could not be delivered').isVisible()).toBe(true);
    await checkPage(page);
  });

  it('works with the keyboard alone', async () => {
    const { create, arrive, page, heading, reply, focused, search, inbox, button, settle } =
      await begin();
    const [three, two, one] = [await create('Three'), await create('Two'), await create('One')];
    await arrive();
    const { keyboard } = page;
    await keyboard.press('j');
    expect(await focused()).toContain('Three');
    await keyboard.press('j');
    await keyboard.press('ArrowDown');
    expect(await focused()).toContain('One');
    await keyboard.press('k');
    expect(await focused()).toContain('Two');
    await keyboard.press('Enter');
    await expect.poll(() => heading.textContent()).toBe('Two');
    await expect.poll(focused).toBe('Two');
    await keyboard.press('j');
    await expect.poll(() => heading.textContent()).toBe('One');
    await keyboard.press('k');
    await expect.poll(() => heading.textContent()).toBe('Two');
    await keyboard.press('r');
    await keyboard.type('jkrd? are letters here');
    expect(await reply.inputValue()).toBe('jkrd? are letters here');
    await keyboard.press('Control+Enter');
    // The next one has taken its place.
    await expect.poll(() => heading.textContent()).toBe('One');
    await expect.poll(focused).toBe('One');
    await keyboard.press('d');
    await expect.poll(() => inbox.get(two.id)).toMatchObject({ reply: 'jkrd? are letters here' });
    await expect.poll(() => heading.textContent()).toBe('Three');
    await settle();
    await expect.poll(() => inbox.get(one.id)).toHaveProperty('reply_at');
    await keyboard.press('Escape');
    await expect.poll(() => heading.count()).toBe(0);
    await keyboard.press('/');
    expect(await search.evaluate((element) => element.matches(':focus'))).toBe(true);
    await keyboard.type('thr');
    await keyboard.press('Enter');
    await page.getByText('Searched 3').waitFor();
    await keyboard.press('ArrowDown');
    expect(await focused()).toContain('Three');
    await keyboard.press('Enter');
    await expect.poll(() => heading.textContent()).toBe('Three');
    await keyboard.press('r');
    await keyboard.press('Escape');
    expect(await focused()).toBe('Three');
    await keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await checkPage(page);
    // WCAG 2.2, 2.1.4: keys with one character can be switched off.
    await page.getByRole('checkbox').focus();
    await keyboard.press('Space');
    await keyboard.press('Escape');
    await keyboard.press('d');
    await keyboard.press('r');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await focused()).not.toBe('reply');
    await button('Keys').press('Enter');
    await page.getByRole('checkbox').press('Space');
    await keyboard.press('Escape');
    await heading.focus();
    await keyboard.press('r');
    expect(await focused()).toBe('reply');
    expect(await inbox.get(three.id)).not.toHaveProperty('reply_at');
  });

  it('refuses a wrong secret and says how to get the right one; the right one leaves the address', async () => {
    const { create, server, page, requests, context } = await begin();
    await create('s');
    const [origin = '', secret = ''] = server.url.split('#');
    await page.goto(origin);
    await page.getByText('This address is not complete').waitFor();
    await checkPage(page);
    await page.goto(`${origin}#${secret.slice(0, -1)}x`);
    await page.getByText('This address is not the right one').waitFor();
    expect(await page.getByText('npm run inbox -- --web').isVisible()).toBe(true);
    expect(await page.locator('a.ib-row').count()).toBe(0);
    await checkPage(page);
    await page.goto(server.url);
    await page.locator('a.ib-row').waitFor();
    expect(page.url()).toBe(origin);
    // Neither in an address that is requested, nor in what another tab can read.
    expect(requests.filter((url) => !url.includes('#') && url.includes(secret))).toEqual([]);
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).toBe('{}');
    // A new tab of the list's rows gets it from this one, and from nobody once this one is closed.
    const [other] = await Promise.all([
      context.waitForEvent('page'),
      page.locator('a.ib-row').click({ modifiers: ['Control'] }),
    ]);
    await other.locator('.ib-read h2').waitFor();
    expect(other.url()).toContain(`${origin}#`);
    expect(other.url()).not.toContain(secret);
    await Promise.all([page.close(), other.close()]);
    const late = await context.newPage();
    await late.goto(origin);
    await late.getByText('This address is not complete').waitFor();
  });

  it('shows hostile texts as they are, what is invisible in them, too, within their columns, and runs nothing of them', async () => {
    const here = await begin();
    const { page, heading, text, rows, inbox, toast } = here;
    const { origin } = new URL(here.server.url);
    const created = [];
    for (const [index, each] of HOSTILE_TEXTS.entries()) {
      const email = `${'long.address-'.repeat(index % 5)}${index}\u200B@${'sub-domain.'.repeat(index % 9)}example.com`;
      created.push(await here.create(each, email, each));
    }
    const { id: first = '' } = created[0] ?? {};
    await inbox.answer(first, {
      reply: HOSTILE_TEXTS.join('\n'),
      respondent: HOSTILE_TEXTS[1] ?? '',
    });
    await here.arrive();
    await here.button('All').click();
    await expect.poll(() => rows.count()).toBe(HOSTILE_TEXTS.length);
    await checkPage(page);
    expect(await page.locator('.ib-from').last().textContent()).toMatch(/^0\\u200b@example\.com$/);
    for (const { id, email, subject, body } of created) {
      await page.goto(`${origin}/#${id}`);
      await expect.poll(() => page.locator('.ib-details dd').last().textContent()).toBe(id);
      expect(await heading.evaluate((element) => element.textContent)).toBe(showInvisible(subject));
      expect(await page.locator('.ib-sender').textContent()).toBe(showAddress(email));
      expect(await text.evaluate((element) => element.textContent)).toBe(body);
      await expectFits(page);
      expect(
        await page.locator('.ib-detail :is(script, img, iframe, svg, style, meta, base)').count(),
      ).toBe(0);
    }
    await page.goto(`${origin}/#${first}`);
    await page.locator('.ib-answer').waitFor();
    expect(await page.title()).toMatch(/^\(\d+\) Inbox of local$/);
    /** What is wider than the box it is in, and bars of more than one row. */
    const wide = `[...document.querySelectorAll('body *')].filter((element) => {
        const { width, right } = element.getBoundingClientRect();
        const box = element.parentElement.getBoundingClientRect();
        return width > 1 && !element.closest('.sr') && element.closest('.ib-top, .ib-panes') !== null
          && getComputedStyle(element.parentElement).overflowX !== 'hidden' && (width > box.width + 1 || right > innerWidth + 1 || (element.matches('.ib-row, .ib-list, .ib-detail, .ib-read, .ib-dock, .ib-top, .ib-toast') && element.scrollWidth > element.clientWidth));
      }).map(({ className, outerHTML }) => className + outerHTML.slice(0, 80))`;
    const expectColumns = async () => {
      expect(await page.evaluate(wide)).toEqual([]);
      for (const bar of ['.ib-top', '.ib-search']) {
        expect(await page.locator(bar).evaluate((element) => element.clientHeight)).toBeLessThan(
          50,
        );
      }
      await expectFits(page);
    };
    for (const [index, [width, height]] of [
      [1280, 800] as const,
      [1024, 600] as const,
      [360, 740] as const,
      [320, 256] as const,
    ].entries()) {
      await page.keyboard.press('Escape');
      // Then the focus is in the list.
      await heading.waitFor({ state: 'detached' });
      await page.setViewportSize({ width, height });
      await expectColumns();
      await page.goto(`${origin}/#${created.at(-1 - index)?.id}`);
      await heading.waitFor();
      await expectColumns();
      await page.keyboard.press('d');
      await toast.waitFor();
      await expectColumns();
    }
    expect(here.complaints).toEqual([]);
    expect(here.requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });

  it('shows one thing after the other on a page of 320 px', async () => {
    const { createSamples, arrive, page, rows, heading, button, reply } = await begin(PHONE);
    await createSamples();
    await arrive();
    expect(await page.locator('.ib-detail').isVisible()).toBe(false);
    await checkPage(page);
    await rows.first().click();
    await heading.waitFor();
    expect(await page.locator('.ib-list').isVisible()).toBe(false);
    await checkPage(page);
    await reply.fill('Avec plaisir.');
    await reply.scrollIntoViewIfNeeded();
    await checkPage(page);
    await button('Back to the list').click();
    await rows.first().waitFor();
    expect(await rows.first().evaluate((element) => element.matches(':focus'))).toBe(true);
    await rows.nth(1).click();
    await heading.waitFor();
    await page.goBack();
    await rows.first().waitFor();
    for (const target of await page.locator('button:visible, a:visible, input:visible').all()) {
      const box = await target.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
    }
  });

  it('says that the command has ended or that an inquiry is gone, and tries again', async () => {
    const { own, create, arrive, page, rows, button, heading, context } = await begin();
    const [kept, gone] = [await create('Kept'), await create('Gone')];
    await arrive();
    await own.remove(gone);
    await rows.nth(1).click();
    await page.getByText('There is no such inquiry').waitFor();
    await checkPage(page);
    await context.setOffline(true);
    await rows.nth(0).click();
    await page.getByText('The inquiry could not be loaded').waitFor();
    await button('Unanswered').click();
    await page.getByText('The inquiries could not be loaded').waitFor();
    await checkPage(page);
    await context.setOffline(false);
    await page.locator('.ib-detail').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => heading.textContent()).toBe(kept.subject);
    await page.locator('.ib-list').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => rows.count()).toBe(1);
  });

  it('is served by npm run inbox -- --web, until npm ends', async () => {
    const { folder } = await openInbox();
    const options = ['--web', '--data', folder, '--as', 'olga'];
    const command = spawn('npm', ['run', '--silent', 'inbox', '--', ...options], { cwd: ROOT });
    const ended = once(command, 'exit');
    onTestFinished(() => void command.kill('SIGKILL'));
    let output = '';
    command.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output, { timeout: 30_000 }).toContain('\n');
    const [, address = ''] =
      /^Inbox +(http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43})\n$/.exec(output) ?? [];
    const { page } = await browser.open(WIDE);
    await page.goto(address);
    await page.getByRole('heading', { name: 'unanswered' }).waitFor();
    expect(await page.locator('.ib-account').textContent()).toContain('localolga');
    const { code, stderr } = await runInbox([...options, '--port', new URL(address).port]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('is in use; choose another with --port.'),
    ]);
    // npm passes this signal on to nobody.
    command.kill('SIGKILL');
    await ended;
    await expect.poll(() => isListening(Number(new URL(address).port))).toBe(false);
    await page.getByRole('button', { name: 'Unanswered' }).click();
    await page.getByText('Is npm run inbox -- --web still running?').waitFor();
  });
});
