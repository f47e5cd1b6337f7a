/** The operators' page in a real browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MailState } from '../../inbox/connect.ts';
import { serveInbox } from '../../inbox/server.ts';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { showAddress } from '../../src/invisible.ts';
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

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' };

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
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const heading = page.locator('.ib-read h2');
    const reply = page.getByRole('textbox', { name: 'Reply to' });
    const rows = page.locator('a.ib-row');
    let age = 1_000_000;
    return {
      ...visit,
      own,
      inbox,
      server,
      heading,
      reply,
      rows,
      button,
      /** Stores an inquiry, each later than the one before. */
      create: (subject: string, email = 'ana@example.com', body = 'Please answer.') =>
        own.add(--age, { subject, email, body }),
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
      /** Waits until an inquiry is open, whose subject this is. */
      async reads(subject: string) {
        await expect.poll(() => heading.textContent()).toBe(subject);
      },
      async send(text: string) {
        await reply.fill(text);
        await button('Send reply').click();
      },
      /** Lets the time to undo pass. */
      async settle() {
        await page.mouse.move(900, 300);
        await page.clock.fastForward(9_000);
      },
      async stored(id: string, expected: object) {
        await expect.poll(() => inbox.get(id)).toMatchObject(expected);
      },
      subjects: page.locator('.ib-subject'),
      toast: page.locator('.ib-toast'),
      search: page.getByRole('searchbox'),
      focused: async () =>
        page.evaluate('document.activeElement.textContent || document.activeElement.id'),
    };
  };

  it('opens on the oldest unanswered one, goes from answer to answer, and lists what was answered last first', async () => {
    const here = await begin();
    const { page, subjects, rows, button, reads, send, settle, inbox, toast } = here;
    const created = await here.createSamples();
    const [oldest, second] = created;
    await here.arrive();
    await reads('No subject');
    expect(await subjects.allTextContents()).toEqual(
      created.map(({ subject }) => subject || 'No subject'),
    );
    expect(await page.title()).toBe('(5) Inbox of local');
    // It has the focus, and does not look like a field.
    expect(await here.focused()).toBe('No subject');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
      'none',
    );
    await checkPage(page);
    await button('Oldest first').click();
    await expect.poll(() => subjects.first().textContent()).toBe(created.at(-1)?.subject);
    await rows.first().click();
    await reads(created.at(-1)?.subject ?? '');
    await here.reply.fill('Bonjour Ana,\n\navec plaisir : une table vous attend.\n\nOlga');
    await checkPage(page);
    await takePicture(page, 'inbox');
    await here.reply.fill('');
    await button('Newest first').click();
    await expect.poll(() => subjects.first().textContent()).toBe('No subject');
    await rows.first().click();
    await reads('No subject');
    await send('Yes.');
    await reads(second?.subject ?? '');
    expect(await page.title()).toBe('(4) Inbox of local');
    expect(await inbox.get(oldest?.id ?? '')).not.toHaveProperty('reply_at');
    await settle();
    await here.stored(oldest?.id ?? '', { reply: 'Yes.', respondent: 'olga' });
    expect(await toast.count()).toBe(0);
    await inbox.answer(created[4]?.id ?? '', { respondent: 'pete' });
    await inbox.answer(created[2]?.id ?? '', { respondent: 'pete' });
    await button('Closed').click();
    const closed = [created[2], created[4], oldest];
    await expect
      .poll(() => subjects.allTextContents())
      .toEqual(closed.map((each) => each?.subject || 'No subject'));
    expect(await rows.last().innerText()).toContain('Answered by olga');
    await button('Latest answer first').click();
    await expect.poll(() => subjects.first().textContent()).toBe(created[4]?.subject);
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    // What is chosen differs from the rest by more than a colour that the system replaces.
    const backgroundOf = async (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    expect(await backgroundOf('.ib-shows [aria-pressed=true]')).not.toBe(
      await backgroundOf('.ib-shows [aria-pressed=false]'),
    );
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    expect(here.complaints).toEqual([]);
  });

  it('sends nothing without a text, inserts a saved one, and takes back each of several answers', async () => {
    const { create, arrive, button, page, reads, reply, send, settle, toast, stored, inbox } =
      await begin();
    const spam = await create('Spam', 'ana.lopez+shop@example.com', 'long\n'.repeat(300));
    const [two, three] = [await create('Two'), await create('Three')];
    await arrive();
    await button('Send reply').click();
    await page.getByText('Write the answer first.').waitFor();
    await page.getByText('Saved replies').click();
    await checkPage(page);
    await button('Thanks').click();
    const reference = spam.id.slice(0, 13);
    expect(await reply.inputValue()).toBe(`Hello Ana Lopez,\n\nthank you (${reference}).`);
    await send('Too early');
    await reads('Two');
    await button('Dismiss').click();
    await reads('Three');
    await button('Dismiss').click();
    await page.getByText('Nothing to answer.').waitFor();
    expect(await page.getByText('Choose an inquiry').count()).toBe(0);
    expect(await toast.count()).toBe(3);
    await checkPage(page);
    await toast.first().getByRole('button').click();
    await reads('Spam');
    expect(await reply.inputValue()).toBe('Too early');
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    await reads('Three');
    await settle();
    await stored(two.id, { respondent: 'olga' });
    expect(await inbox.get(two.id)).not.toHaveProperty('reply');
    for (const { id } of [spam, three]) expect(await inbox.get(id)).not.toHaveProperty('reply_at');
  });

  it('sends all that waits, once, when the page is left', async () => {
    const { create, arrive, page, send, stored, reads, inbox } = await begin();
    const [one, two] = [await create('One'), await create('Two')];
    await arrive();
    await reads('One');
    await send('To one');
    await reads('Two');
    await send('To two');
    await page.getByText('Nothing to answer.').waitFor();
    expect(await inbox.get(one.id)).not.toHaveProperty('reply');
    // Nothing asks whether to leave: nothing is lost.
    await page.goto('about:blank');
    await stored(one.id, { reply: 'To one' });
    await stored(two.id, { reply: 'To two' });
    await page.goBack();
    await page.getByText('Nothing to answer.').waitFor();
  });

  it('shows the answer of someone else, brings back one that failed, and knows one whose response was lost', async () => {
    const { create, arrive, reply, button, page, toast, inbox, settle, send, stored, reads } =
      await begin();
    const first = await create('Who is faster?');
    const { id } = await create('Once');
    await arrive();
    await reads('Who is faster?');
    await reply.fill('My answer');
    await inbox.answer(first.id, { reply: 'The answer of Pete', respondent: 'pete' });
    await button('Send reply').click();
    await settle();
    await toast.getByText(/by pete at \d+ \w+ \d+, \d\d:\d\d/).waitFor();
    await checkPage(page);
    await button('Open it').click();
    await page.locator('.ib-answer', { hasText: 'The answer of Pete' }).waitFor();
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My answer');
    await checkPage(page);
    await button('Delete this text').click();
    expect(await unsent.count()).toBe(0);
    await page.locator('a.ib-row', { hasText: 'Once' }).click();
    await reads('Once');
    await page.route('**/reply', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await send('Once only.\n');
    await settle();
    await toast.getByText('Not answered').waitFor();
    await page.unroute('**/reply');
    // Not by the page's own look at it, which would find the answer.
    await page.route(`**/inquiries/${id}`, async (route) => {
      const row = (await (await route.fetch()).json()) as Record<string, unknown>;
      await route.fulfill({ json: { ...row, reply: undefined, reply_at: undefined } });
    });
    await button('Open it').click();
    await expect.poll(() => reply.inputValue()).toBe('Once only.\n');
    await button('Send reply').click();
    await page.unroute(`**/inquiries/${id}`);
    await settle();
    await stored(id, { reply: 'Once only.' });
    expect(await toast.count()).toBe(0);
  });

  it('keeps a draft for each inquiry, over a reload too, and warns before it is lost', async () => {
    const { create, arrive, rows, reply, page, reads, send } = await begin();
    await create('One');
    await create('Two');
    await arrive();
    await rows.nth(1).click();
    await reads('Two');
    await reply.fill('about two');
    await rows.nth(0).click();
    await reads('One');
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
    await reads('Two');
    await send('about two');
    await reads('One');
    await reply.fill('');
    await page.reload();
    await reads('One');
    expect(asked).toEqual(['beforeunload']);
  });

  it('searches everything while it is typed, and goes on when asked', async () => {
    const { create, arrive, search, subjects, page, inbox, button } = await begin();
    const { id } = await create('The oldest', 'cleo@example.com', 'Wo bleibt meine Rücksendung?');
    await inbox.answer(id, { reply: 'Yes.', respondent: 'pete' });
    await Promise.all(
      Array.from({ length: 70 }, (_, n) => create(`Number ${n + 1}`, 'ben@example.com')),
    );
    await arrive();
    await expect.poll(() => subjects.count()).toBe(50);
    await button('Show newer ones').click();
    await expect.poll(() => subjects.count()).toBe(70);
    for (const [text, hits] of [
      ['RUECKSENDUNG', ['Rücksendung']],
      ['Cleo@', ['cleo@']],
      [`Reference ${id.slice(0, 13)}`, []],
    ] as const) {
      const response = page.waitForResponse((each) => each.url().includes('text='));
      await search.fill(text);
      await page.clock.fastForward(500);
      await response;
      await page.getByText('1 match', { exact: true }).waitFor();
      expect(await subjects.allTextContents()).toEqual(['The oldest']);
      const marked = `[...CSS.highlights.get('hits')].map(String)`;
      expect(await page.evaluate(marked)).toEqual(hits);
    }
    await search.fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('No matches', { exact: true }).waitFor();
    await checkPage(page);
    await search.fill('');
    await page.clock.fastForward(500);
    await expect.poll(() => subjects.count()).toBe(50);
    // As much as one request may read.
    const parts: string[] = [];
    const next = '01997b2e-0000-7000-8000-000000000000';
    await page.route('**/inquiries?*text=f*', async (route) => {
      parts.push(new URL(route.request().url()).searchParams.get('from') ?? '');
      if (parts.length > 1) return route.continue();
      return route.fulfill({ json: { inquiries: [], next } });
    });
    await search.fill('f');
    await page.keyboard.press('Enter');
    await page.getByText('No matches so far').waitFor();
    await button('Search older ones').click();
    await expect.poll(() => parts).toEqual(['', next]);
    await page.getByText('No matches', { exact: true }).waitFor();
  });

  it('shows new ones by itself, and takes away what a colleague has answered, without moving what is read', async () => {
    const { own, create, arrive, page, rows, subjects, inbox, reads, reply, button } =
      await begin();
    const old = await Promise.all(
      Array.from({ length: 40 }, (_, n) => own.add(2_000_000 - n, { subject: `Old ${n}` })),
    );
    await arrive();
    await button('Oldest first').click();
    await expect.poll(() => subjects.first().textContent()).toBe('Old 39');
    await rows.nth(20).click();
    await reads('Old 19');
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

  it('says before anyone writes that no mail goes out, and which replies came back', async () => {
    const { own, create, arrive, page, rows, button, reads, stored, settle } = await begin(
      WIDE,
      'none',
    );
    const bounced = await create('Bounced');
    await own.inbox.answer(bounced.id, { reply: 'Yes.', respondent: 'pete' });
    const state = { undelivered: 'bounce', undelivered_at: new Date().toISOString() } as const;
    await own.deliveries
      .put({ inquiry: bounced.id, mail: 'reply', ...state, expires_at: 9_999_999_999 })
      .go();
    const noMail = await create('Garantie', 'müller@example.de', ' \n');
    const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400;
    await own.add(-1, { subject: `soon ${'long '.repeat(200)}`, expires_at });
    await arrive();
    await page.getByText('No mail can be sent to this address').waitFor();
    expect(await page.locator('.ib-text').textContent()).toBe('No message');
    await checkPage(page);
    await page.getByRole('textbox').last().fill('Ja.');
    await button('Record the answer').click();
    await page.getByText('This stage sends no mail').waitFor();
    expect(await rows.first().innerText()).toContain('Expires in 2d');
    expect((await page.locator('.ib-read h2').textContent())?.length).toBeLessThan(250);
    await page.getByText('Details').click();
    expect(await page.locator('.ib-details').innerText()).toContain('long '.repeat(190));
    await checkPage(page);
    await settle();
    await stored(noMail.id, { reply: 'Ja.' });
    await button('1 came back').click();
    await expect.poll(() => rows.last().innerText()).toContain('Not delivered: the mail came back');
    await rows.last().click();
    await reads('Bounced');
    await page.getByText(/We learned on .* that the mail came back/).waitFor();
    await checkPage(page);
  });

  it('works with the keyboard alone', async () => {
    const { create, arrive, page, heading, reply, focused, search, button, ...here } =
      await begin();
    const { reads, settle, stored } = here;
    const [, two, one] = [await create('Three'), await create('Two'), await create('One')];
    await arrive();
    const { keyboard } = page;
    await reads('Three');
    await keyboard.press('j');
    await reads('Two');
    await keyboard.press('Escape');
    // The row, and no longer the heading of the inquiry.
    await expect.poll(focused).toContain('TwoPlease answer.');
    await keyboard.press('ArrowDown');
    expect(await focused()).toContain('One');
    await keyboard.press('k');
    expect(await focused()).toContain('Two');
    await keyboard.press('Enter');
    await reads('Two');
    await expect.poll(focused).toBe('Two');
    await keyboard.press('r');
    await keyboard.type('jkrd? are letters here');
    expect(await reply.inputValue()).toBe('jkrd? are letters here');
    await keyboard.press('Control+Enter');
    // The next one has taken its place.
    await reads('One');
    await expect.poll(focused).toBe('One');
    await keyboard.press('d');
    await reads('Three');
    await settle();
    await stored(two.id, { reply: 'jkrd? are letters here' });
    await stored(one.id, { respondent: 'olga' });
    await keyboard.press('Escape');
    await expect.poll(() => heading.count()).toBe(0);
    await keyboard.press('/');
    expect(await search.evaluate((element) => element.matches(':focus'))).toBe(true);
    await keyboard.type('thr');
    await keyboard.press('Enter');
    await page.getByText('1 match').waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await reads('Three');
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
    expect(await focused()).not.toBe('reply');
    await button('Keys').press('Enter');
    await page.getByRole('checkbox').press('Space');
    await keyboard.press('Escape');
    await heading.focus();
    await keyboard.press('r');
    expect(await focused()).toBe('reply');
  });

  it('refuses a wrong secret and says how to get the right one, which leaves the address', async () => {
    const { create, server, page, requests, context } = await begin(PHONE);
    await create('s');
    const [origin = '', secret = ''] = server.url.split('#');
    await page.goto(`${origin}other`);
    await page.getByText('This address is not complete').waitFor();
    await page.getByRole('button', { name: 'Take it from the other tab' }).waitFor();
    await checkPage(page);
    await page.goto(`${origin}#${secret.slice(0, -1)}x`);
    await page.getByText('This address is not the right one').waitFor();
    expect(await page.getByText('npm run inbox -- --web').isVisible()).toBe(true);
    expect(await page.locator('a.ib-row').count()).toBe(0);
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

  it('shows hostile texts as they are, within their columns, and runs nothing of them', async () => {
    const here = await begin();
    const { page, heading, rows, inbox, toast } = here;
    const { origin } = new URL(here.server.url);
    const created = [];
    for (const [index, each] of HOSTILE_TEXTS.entries()) {
      const email = `${'long.address-'.repeat(index % 5)}${index}\u200B@${'sub-domain.'.repeat(index % 9)}example.com`;
      created.push(await here.create(each, email, each));
    }
    const { id: first = '' } = created[0] ?? {};
    const answer = { reply: HOSTILE_TEXTS.join('\n'), respondent: HOSTILE_TEXTS[1] ?? '' };
    await inbox.answer(first, answer);
    await here.arrive();
    await here.button('All').click();
    await expect.poll(() => rows.count()).toBe(50);
    await here.button('Show older ones').press('Enter');
    await expect.poll(() => rows.count()).toBe(HOSTILE_TEXTS.length);
    await checkPage(page);
    for (const { id, email, body } of created) {
      await page.goto(`${origin}/#${id}`);
      await expect.poll(() => page.locator('.ib-details dd').first().textContent()).toBe(id);
      expect(await page.locator('.ib-sender').textContent()).toBe(showAddress(email));
      const shown = await page.locator('.ib-text').evaluate((element) => element.textContent);
      expect(shown).toBe(body.trim() === '' ? 'No message' : body);
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
      expect(await page.locator('.ib-top').evaluate((each) => each.clientHeight)).toBeLessThan(50);
      await expectFits(page);
    };
    const sizes = [
      { width: 1280, height: 800 },
      { width: 1024, height: 600 },
      { width: 360, height: 740 },
      { width: 320, height: 256 },
    ];
    for (const [index, size] of sizes.entries()) {
      await page.keyboard.press('Escape');
      // Then the focus is in the list.
      await heading.waitFor({ state: 'detached' });
      await page.setViewportSize(size);
      await expectColumns();
      await page.goto(`${origin}/#${created.at(-1 - index)?.id}`);
      await heading.waitFor();
      await expectColumns();
      await page.keyboard.press('d');
      await toast.first().waitFor();
      await expectColumns();
    }
    expect(here.complaints).toEqual([]);
    expect(here.requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });

  it('shows one thing after the other on a page of 320 px, and targets of 24 px', async () => {
    const { createSamples, arrive, page, rows, heading, button, reply } = await begin(PHONE);
    await createSamples();
    await arrive();
    expect(await page.locator('.ib-detail').isVisible()).toBe(false);
    await checkPage(page);
    const expectTargets = async () => {
      const targets = page.locator(':is(button, a, input, summary, textarea):visible');
      for (const target of await targets.all()) {
        const box = await target.boundingBox();
        expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
      }
    };
    await expectTargets();
    await rows.first().click();
    await heading.waitFor();
    expect(await page.locator('.ib-list').isVisible()).toBe(false);
    await reply.fill('Avec plaisir.');
    await reply.scrollIntoViewIfNeeded();
    await checkPage(page);
    await expectTargets();
    await button('Back to the list').click();
    await rows.first().waitFor();
    expect(await rows.first().evaluate((element) => element.matches(':focus'))).toBe(true);
    await rows.nth(1).click();
    await heading.waitFor();
    await page.goBack();
    await rows.first().waitFor();
  });

  it('says that the command has ended or that an inquiry is gone, and tries again', async () => {
    const { own, create, arrive, page, rows, button, reads, context } = await begin();
    const [kept, gone] = [await create('Kept'), await create('Gone')];
    await arrive();
    await own.remove(gone);
    await rows.nth(1).click();
    await page.getByText('There is no such inquiry').waitFor();
    await context.setOffline(true);
    await rows.nth(0).click();
    await page.getByText('The inquiry could not be loaded').waitFor();
    await button('Unanswered').click();
    await page.getByText('The inquiries could not be loaded').waitFor();
    await checkPage(page);
    await context.setOffline(false);
    await page.locator('.ib-detail').getByRole('button', { name: 'Try again' }).click();
    await reads(kept.subject);
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
    expect(await page.locator('.ib-name').textContent()).toBe('olga');
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
