/** The operators' page in a real browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MailState } from '../../inbox/connect.ts';
import { serveInbox } from '../../inbox/server.ts';
import { isListening } from '../../lib/loopback-server.ts';
import { ROOT } from '../../lib/paths.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { showAddress, showInvisible } from '../../src/invisible.ts';
import { expectAccessible, expectFits, setUp, takePicture, whyNoBrowser } from '../helpers/chromium.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';
import { openInbox, runInbox } from '../helpers/inbox.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 940 }, locale: 'en-GB' };
const PHONE: BrowserContextOptions = {
  viewport: { width: 320, height: 640 },
  isMobile: true,
  hasTouch: true,
  locale: 'en-GB',
};

/** From the oldest on: email, subject, text. */
const SAMPLES = [
  ['dora@example.com', '<b>Is this bold?</b>', '<script>alert(1)</script> is shown as it was typed.'],
  ['eli@example.com', '', 'Without a subject it works as well.'],
  ['amal@example.com', 'سؤال عن الفاتورة', 'مرحبا، لم تصلني فاتورة شهر أكتوبر. هل يمكنكم إرسالها مرة أخرى؟'],
  ['ben@example.com', 'Opening hours on 6 December', 'Are you open on the afternoon of the 6th?'],
  [
    'ana@example.com',
    'Café réservation',
    'Bonjour,\n\nnous serons huit personnes samedi à 19 h, dont deux enfants.\nAvez-vous une table près de la fenêtre ?\n\nL’une de nous ne mange ni noix ni sésame. Pouvez-vous nous dire quels plats conviennent ?\n\nMerci d’avance\nAna',
  ],
] as const;

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
        Promise.all(SAMPLES.map(([email, subject, body], n) => own.add(SAMPLES.length - n, { email, subject, body }))),
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
      focused: async () => page.evaluate('document.activeElement.textContent || document.activeElement.id'),
    };
  };

  const check = async (page: Page): Promise<void> => {
    await expectAccessible(page);
    await expectFits(page);
  };

  it('lists the unanswered ones, oldest first, and answers one after the other', async () => {
    const here = await begin();
    const { arrive, page, subjects, rows, heading, text, reply, button, toast, inbox, settle } = here;
    const created = (await here.createSamples()).toReversed();
    const [newest, second] = created;
    await arrive();
    const names = created.map(({ subject }) => subject || 'No subject');
    await expect.poll(() => subjects.allTextContents()).toEqual(names.toReversed());
    expect(await page.title()).toBe('(5) Inbox of local');
    expect(await rows.first().innerText()).toContain('is shown as it was typed.');
    await check(page);
    await button('Oldest first').click();
    await expect.poll(() => subjects.allTextContents()).toEqual(names);
    await rows.first().click();
    await expect.poll(() => heading.textContent()).toBe(newest?.subject);
    expect(await text.textContent()).toBe(newest?.body);
    expect(await page.locator('.ib-meta').innerText()).toContain(newest?.id.slice(0, 13));
    expect(await page.getByText('The reply is mailed to ana@example.com.').isVisible()).toBe(true);
    const written = 'Bonjour Ana,\n\navec plaisir : une table près de la fenêtre vous attend.\n\nOlga';
    await reply.fill(written);
    await check(page);
    await takePicture(page, 'inbox');
    await button('Send reply').click();
    await expect.poll(() => heading.textContent()).toBe(second?.subject);
    expect(await page.title()).toBe('(4) Inbox of local');
    expect(await toast.innerText()).toContain('ana@example.com');
    expect(await inbox.get(newest?.id ?? '')).not.toHaveProperty('reply_at');
    await check(page);
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
    await page.reload();
    await expect.poll(() => here.answer.innerText()).toContain('Answered by olga');
    await check(page);
    expect(here.complaints).toEqual([]);
  });

  it('sends nothing without a text, and undoes an answer and a dismissal', async () => {
    const { create, arrive, rows, button, page, heading, reply, inbox, settle, toast } = await begin();
    const { id } = await create('Spam', 'ana@example.com', 'long\n'.repeat(300));
    await arrive();
    await rows.first().click();
    await button('Send reply').click();
    await page.getByText('Write the answer first.').waitFor();
    expect(await page.locator('.ib-read').evaluate((element) => element.scrollTop)).toBe(0);
    await reply.fill('Too early');
    await button('Send reply').click();
    await page.getByText('Nothing to answer.').waitFor();
    await button('Undo').click();
    await expect.poll(() => reply.inputValue()).toBe('Too early');
    await button('Dismiss').click();
    await page.getByText('Nothing to answer.').waitFor();
    await check(page);
    await page.keyboard.press('u');
    await expect.poll(() => heading.textContent()).toBe('Spam');
    await settle();
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
    await button('Dismiss').click();
    await settle();
    await toast.getByText('Dismissed').waitFor();
    await expect.poll(() => inbox.get(id)).toMatchObject({ respondent: 'olga', reply_at: expect.any(String) });
    expect(await inbox.get(id)).not.toHaveProperty('reply');
  });

  it('sends what waits, once, when the next answer is given and when the page is left', async () => {
    const { create, arrive, rows, button, page, reply, inbox, heading } = await begin();
    const [one, two] = [await create('One'), await create('Two')];
    const sent: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url().slice(-42, -6))));
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
    await page.reload();
    await expect.poll(() => inbox.get(two.id)).toMatchObject({ reply: 'To two' });
    await page.getByText('Nothing to answer.').waitFor();
    // The second went out with `keepalive`, which the browser does not report.
    expect(sent).toEqual([one.id]);
  });

  it('shows the answer of someone else who has already answered, and keeps the text', async () => {
    const { create, arrive, rows, reply, button, page, toast, answer, inbox, settle } = await begin();
    const { id } = await create('Who is faster?');
    await arrive();
    await rows.first().click();
    await reply.fill('My answer');
    await inbox.answer(id, { reply: 'The answer of Pete', respondent: 'pete' });
    await button('Send reply').click();
    await settle();
    await toast.getByText(/by pete at \d+ \w+ \d+, \d\d:\d\d/).waitFor();
    await check(page);
    await button('Open it').click();
    await expect.poll(() => answer.innerText()).toContain('The answer of Pete');
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My answer');
    await check(page);
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
      const { reply: _, reply_at: __, ...row } = (await (await route.fetch()).json()) as Record<string, unknown>;
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

  it('searches everything by reference, email and text, without case and accents', async () => {
    const { create, arrive, search, subjects, page, inbox, button } = await begin();
    const { id } = await create('The oldest', 'cleo@example.com', 'Wo bleibt meine Rücksendung?');
    await inbox.answer(id, { reply: 'Yes.', respondent: 'pete' });
    await Promise.all(Array.from({ length: 120 }, (_, n) => create(`Number ${n + 1}`, 'ben@example.com')));
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
    await check(page);
    await search.fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByText('Searched 121 inquiries: 0 hits.').waitFor();
    await check(page);
    await search.fill('');
    await expect.poll(() => subjects.count()).toBe(100);
  });

  it('goes on with a search that has read as much as one request may', async () => {
    const { create, arrive, search, subjects, page, button } = await begin();
    await create('Found');
    await arrive();
    const parts: string[] = [];
    await page.route('**/inquiries?*text=f*', async (route) => {
      parts.push(new URL(route.request().url()).searchParams.get('from') ?? '');
      const found = (await (await route.fetch()).json()) as object;
      await route.fulfill({
        json:
          parts.length > 1 ? found : { inquiries: [], searched: 5_000, next: '01997b2e-0000-7000-8000-000000000000' },
      });
    });
    await search.fill('f');
    await page.keyboard.press('Enter');
    await page.getByText('Searched 5,000 inquiries: 0 hits, and there are older ones.').waitFor();
    await button('Search older ones').click();
    await expect.poll(() => parts).toEqual(['', '01997b2e-0000-7000-8000-000000000000']);
    await page.getByText('Searched 5,000 inquiries').waitFor();
    expect(await subjects.count()).toBe(0);
  });

  it('shows new ones by itself, and takes away what a colleague has answered, without moving what is read', async () => {
    const { own, create, arrive, page, rows, subjects, inbox, heading, reply, button } = await begin();
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

  it('inserts a saved reply with the name and the reference', async () => {
    const { create, arrive, rows, page, reply } = await begin();
    const { id } = await create('s', 'ana.lopez+shop@example.com');
    await arrive();
    await rows.first().click();
    await page.getByText('Saved replies').click();
    await check(page);
    await page.getByRole('button', { name: 'Thanks' }).click();
    expect(await reply.inputValue()).toBe(`Hello Ana Lopez,\n\nthank you (${id.slice(0, 13)}).`);
  });

  it('says before anyone writes that no mail goes out, and what became of replies', async () => {
    const { own, create, arrive, page, rows, button, inbox, answer, settle } = await begin(WIDE, 'none');
    const bounced = await create('Bounced');
    await inbox.answer(bounced.id, { reply: 'Yes.', respondent: 'pete' });
    const lost = {
      inquiry: bounced.id,
      mail: 'reply',
      undelivered: 'bounce',
      undelivered_at: new Date().toISOString(),
    } as const;
    const record = createDeliveryEntity(own.name).put({ ...lost, expires_at: 9_999_999_999 });
    await own.client.send(new PutCommand(record.params()));
    const noMail = await create('Garantie', 'müller@example.de');
    await own.add(-1, { subject: 'soon', expires_at: Math.floor(Date.now() / 1_000) + 3 * 86_400 });
    await arrive();
    expect(await rows.nth(0).innerText()).toContain('No mail can be sent');
    expect(await rows.nth(1).innerText()).toContain('Expires in 2d');
    await rows.nth(1).click();
    await page.getByText('This stage sends no mail').waitFor();
    await page.getByText('Details').click();
    expect(await page.locator('.ib-details').innerText()).toContain('Expires');
    await check(page);
    await rows.nth(0).click();
    await page.getByText('No mail can be sent to this address').waitFor();
    await check(page);
    await page.getByRole('textbox').last().fill('Ja.');
    await button('Record the answer').click();
    await settle();
    await expect.poll(() => inbox.get(noMail.id)).toMatchObject({ reply: 'Ja.' });
    await button('Closed').click();
    await expect.poll(() => rows.last().innerText()).toContain('Could not be delivered: the mail came back');
    await rows.last().click();
    await answer.waitFor();
    expect(await page.getByText('The reply could not be delivered').isVisible()).toBe(true);
    await check(page);
  });

  it('works with the keyboard alone', async () => {
    const { create, arrive, page, heading, reply, focused, search, inbox, button, settle } = await begin();
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
    await check(page);
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
    await check(page);
    await page.goto(`${origin}#${secret.slice(0, -1)}x`);
    await page.getByText('This address is not the right one').waitFor();
    expect(await page.getByText('npm run inbox -- --web').isVisible()).toBe(true);
    expect(await page.locator('a.ib-row').count()).toBe(0);
    await check(page);
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

  it('shows hostile texts as they are, what is invisible in them, too, and runs nothing of them', async () => {
    const here = await begin();
    const { page, heading, text, rows, inbox } = here;
    const { origin } = new URL(here.server.url);
    const created = [];
    for (const [index, each] of HOSTILE_TEXTS.entries()) {
      created.push(await here.create(each, `${index}\u200B@example.com`, each));
    }
    const { id: first = '' } = created[0] ?? {};
    await inbox.answer(first, { reply: HOSTILE_TEXTS.join('\n'), respondent: HOSTILE_TEXTS[1] ?? '' });
    await here.arrive();
    await here.button('All').click();
    await expect.poll(() => rows.count()).toBe(HOSTILE_TEXTS.length);
    await check(page);
    expect(await page.locator('.ib-from').last().textContent()).toMatch(/^\d+\\u200b@example\.com$/);
    for (const { id, email, subject, body } of created) {
      await page.goto(`${origin}/#${id}`);
      await expect.poll(() => page.locator('.ib-details dd').last().textContent()).toBe(id);
      expect(await heading.evaluate((element) => element.textContent)).toBe(showInvisible(subject));
      expect(await page.locator('.ib-sender').textContent()).toBe(showAddress(email));
      expect(await text.evaluate((element) => element.textContent)).toBe(body);
      await expectFits(page);
      expect(await page.locator('.ib-detail :is(script, img, iframe, svg, style, meta, base)').count()).toBe(0);
    }
    await page.goto(`${origin}/#${first}`);
    await page.locator('.ib-answer').waitFor();
    await check(page);
    expect(await page.title()).toMatch(/^\(\d+\) Inbox of local$/);
    expect(here.complaints).toEqual([]);
    expect(here.requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });

  it('shows one thing after the other on a page of 320 px', async () => {
    const { createSamples, arrive, page, rows, heading, button, reply } = await begin(PHONE);
    await createSamples();
    await arrive();
    expect(await page.locator('.ib-detail').isVisible()).toBe(false);
    await check(page);
    await rows.first().click();
    await heading.waitFor();
    expect(await page.locator('.ib-list').isVisible()).toBe(false);
    await check(page);
    await reply.fill('Avec plaisir.');
    await reply.scrollIntoViewIfNeeded();
    await check(page);
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

  it.each([
    [1280, 800],
    [1024, 600],
    [360, 740],
    [320, 256],
  ])('has nothing wider than its column on a page of %s × %s', async (width, height) => {
    const { own, arrive, page, rows, heading, toast, search } = await begin({ viewport: { width, height } });
    const words = [
      'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk',
      '👩‍👩‍👧‍👦🏳️‍🌈🎂',
      'https://shop.example.com/a?b=c&d=e',
    ];
    const texts = [
      ...SAMPLES.map(([, subject]) => subject),
      ...words,
      words.join('').repeat(3),
      'お問い合わせ'.repeat(12),
    ];
    await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const [subject = '', other = ''] = [texts[n % texts.length], texts[(n * 7 + 1) % texts.length]];
        const email = `${'long.address-'.repeat(n % 5)}${n}@${'sub-domain.'.repeat(n % 9)}example.com`;
        return own.add(n, { subject: `${subject} ${n % 3 === 0 ? other : ''}`, email, body: other });
      }),
    );
    await arrive();
    await expect.poll(() => rows.count()).toBe(100);
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
        expect(await page.locator(bar).evaluate((element) => element.clientHeight)).toBeLessThan(50);
      }
      await expectFits(page);
    };
    await expectColumns();
    for (const n of [0, 8, 16]) {
      await page.goto(new URL((await rows.nth(n).getAttribute('href')) ?? '', page.url()).href);
      await heading.waitFor();
      await expectColumns();
      await page.keyboard.press('d');
      await toast.waitFor();
      await expectColumns();
      await page.keyboard.press('Escape');
      // Then the focus is in the list.
      await heading.waitFor({ state: 'detached' });
    }
    await search.fill('お問い合わせ');
    await page.keyboard.press('Enter');
    await page.getByText('Searched 300').waitFor();
    await expectColumns();
  });

  it('says that the command has ended or that an inquiry is gone, and tries again', async () => {
    const { own, create, arrive, page, rows, button, heading, context } = await begin();
    const [kept, gone] = [await create('Kept'), await create('Gone')];
    await arrive();
    await own.remove(gone);
    await rows.nth(1).click();
    await page.getByText('There is no such inquiry').waitFor();
    await check(page);
    await context.setOffline(true);
    await rows.nth(0).click();
    await page.getByText('The inquiry could not be loaded').waitFor();
    await button('Unanswered').click();
    await page.getByText('The inquiries could not be loaded').waitFor();
    await check(page);
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
    const [, address = ''] = /^Inbox +(http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43})\n$/.exec(output) ?? [];
    const { page } = await browser.open(WIDE);
    await page.goto(address);
    await page.getByRole('heading', { name: 'unanswered' }).waitFor();
    expect(await page.locator('.ib-account').textContent()).toContain('localolga');
    const { code, stderr } = await runInbox([...options, '--port', new URL(address).port]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is in use; choose another with --port.')]);
    // npm passes this signal on to nobody.
    command.kill('SIGKILL');
    await ended;
    await expect.poll(() => isListening(Number(new URL(address).port))).toBe(false);
    await page.getByRole('button', { name: 'Unanswered' }).click();
    await page.getByText('Is npm run inbox -- --web still running?').waitFor();
  });

  it('keeps to the colours and the motion that the system asks for', async () => {
    const { createSamples, arrive, page, rows, heading } = await begin();
    await createSamples();
    await arrive();
    await rows.nth(1).click();
    await heading.waitFor();
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    // What is chosen differs from the rest by more than a colour that the system replaces.
    const styleOf = async (selector: string, name: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}'))['${name}']`);
    const [chosen, other] = ['.ib-shows [aria-pressed=true]', '.ib-shows [aria-pressed=false]'] as const;
    const background = 'background-color';
    expect(await styleOf(chosen, background)).not.toBe(await styleOf(other, background));
    const [current, row] = ['a.ib-row[aria-current]', 'a.ib-row:not([aria-current])'] as const;
    expect(await styleOf(current, background)).not.toBe(await styleOf(row, background));
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });
});
