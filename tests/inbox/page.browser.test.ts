/** The operators' page in a real browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveInbox } from '../../inbox/server.ts';
import { ROOT } from '../../lib/paths.ts';
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
  const begin = async (options = WIDE) => {
    const own = await openInbox();
    const { inbox } = own;
    const respondent = async () => 'olga';
    const server = await serveInbox({ stage: 'local', table: own.name, inbox, respondent });
    onTestFinished(server.close);
    const visit = await browser.open(options);
    const { page } = visit;
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
          SAMPLES.map(([email, subject, body], n) => own.add(SAMPLES.length - n, { email, subject, body })),
        ),
      /** Opens the page and waits for the list. */
      async arrive() {
        await page.goto(server.url);
        await page.getByRole('heading', { name: 'Inquiries' }).waitFor();
        await page.getByText(/\d inquir/).waitFor();
      },
      button,
      rows: page.locator('a.row'),
      subjects: page.locator('.row-subject'),
      heading: page.locator('.detail h2'),
      text: page.locator('.content > .text'),
      reply: page.getByRole('textbox', { name: 'Reply to' }),
      outcome: page.locator('.detail').getByRole('alert'),
      search: page.getByRole('searchbox'),
      count: page.locator('.count'),
      focused: async () => page.evaluate('document.activeElement.textContent || document.activeElement.id'),
    };
  };

  const check = async (page: Page): Promise<void> => {
    await expectAccessible(page);
    await expectFits(page);
  };

  it('lists the unanswered ones, newest first, shows one in full and answers it', async () => {
    const here = await begin();
    const { arrive, page, subjects, rows, heading, text, reply, button, outcome, inbox } = here;
    const created = await here.createSamples();
    const newest = created.at(-1);
    await arrive();
    expect(await subjects.allTextContents()).toEqual(
      created.map(({ subject }) => subject || 'No subject').toReversed(),
    );
    await check(page);
    await rows.first().click();
    await expect.poll(() => heading.textContent()).toBe(newest?.subject);
    expect(await text.textContent()).toBe(newest?.body);
    expect(await page.locator('dl').innerText()).toContain('ana@example.com');
    expect(await page.getByText(/mailed to the owner if this stage sends mail/).isVisible()).toBe(true);
    const answer = 'Bonjour Ana,\n\navec plaisir : une table près de la fenêtre vous attend.\n\nOlga';
    await reply.fill(answer);
    await check(page);
    await takePicture(page, 'inbox');
    await button('Send reply').click();
    await outcome.getByText('Your reply is stored').waitFor();
    await check(page);
    expect(await inbox.get(newest?.id ?? '')).toMatchObject({ reply: answer, respondent: 'olga' });
    expect(await subjects.count()).toBe(4);
    await button('Closed').click();
    await expect.poll(() => subjects.allTextContents()).toEqual([newest?.subject]);
    expect(await rows.first().innerText()).toContain('Closed by olga');
    await button('All').click();
    await expect.poll(() => subjects.count()).toBe(5);
    await page.reload();
    await expect.poll(() => page.locator('.answer').innerText()).toContain('Answered by olga');
    expect(here.complaints).toEqual([]);
  });

  it('sends nothing without a text, and dismisses after a question', async () => {
    const { create, arrive, rows, button, page, outcome, inbox } = await begin();
    const { id } = await create('Spam');
    await arrive();
    await rows.first().click();
    await button('Send reply').click();
    await outcome.getByText('There is no reply to send').waitFor();
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
    await button('Dismiss…').click();
    await page.getByRole('dialog').waitFor();
    await check(page);
    await button('Cancel').click();
    expect(await inbox.get(id)).not.toHaveProperty('reply_at');
    await button('Dismiss…').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
    await outcome.getByText('Dismissed').waitFor();
    await check(page);
    expect(await inbox.get(id)).toMatchObject({ respondent: 'olga', reply_at: expect.any(String) });
    expect(await inbox.get(id)).not.toHaveProperty('reply');
    await page.getByText('No unanswered inquiries.').waitFor();
  });

  it('shows the answer of someone else who has already answered, and keeps the text', async () => {
    const { create, arrive, rows, reply, button, page, outcome, inbox } = await begin();
    const { id } = await create('Who is faster?');
    await arrive();
    await rows.first().click();
    await reply.fill('My answer');
    await inbox.answer(id, { reply: 'The answer of Pete', respondent: 'pete' });
    await button('Send reply').click();
    await outcome.getByText(/Already answered by pete at \d+ \w+ \d+, \d\d:\d\d/).waitFor();
    expect(await page.locator('.answer').innerText()).toContain('The answer of Pete');
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My answer');
    await check(page);
    await button('Delete this text').click();
    expect(await unsent.count()).toBe(0);
    expect(await inbox.get(id)).toMatchObject({ reply: 'The answer of Pete', respondent: 'pete' });
  });

  it('treats a reply as stored whose response was lost, when it is sent again', async () => {
    const { create, arrive, rows, reply, button, page, outcome, inbox } = await begin();
    const { id } = await create('Once');
    await arrive();
    await rows.first().click();
    await reply.fill('Once only.\n');
    await page.route('**/reply', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await button('Send reply').click();
    await outcome.getByText('could not be answered').waitFor();
    await check(page);
    await page.unroute('**/reply');
    expect(await reply.inputValue()).toBe('Once only.\n');
    await button('Send reply').click();
    await outcome.getByText('Your reply is stored').waitFor();
    expect(await inbox.get(id)).toMatchObject({ reply: 'Once only.' });
  });

  it('keeps a draft for each inquiry, over a reload too, and warns before it is lost', async () => {
    const { create, arrive, rows, reply, page, heading, button, outcome } = await begin();
    await create('One');
    await create('Two');
    await arrive();
    await rows.nth(0).click();
    await reply.fill('about two');
    await rows.nth(1).click();
    await expect.poll(() => heading.textContent()).toBe('One');
    expect(await reply.inputValue()).toBe('');
    await reply.fill('about one');
    expect(await rows.first().innerText()).toContain('Draft');
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await expect.poll(() => reply.inputValue()).toBe('about one');
    expect(asked).toEqual(['beforeunload']);
    await rows.nth(0).click();
    await expect.poll(() => heading.textContent()).toBe('Two');
    expect(await reply.inputValue()).toBe('about two');
    await button('Send reply').click();
    await outcome.getByText('Your reply is stored').waitFor();
    await rows.first().click();
    await expect.poll(() => heading.textContent()).toBe('One');
    await reply.fill('');
    await page.reload();
    await expect.poll(() => heading.textContent()).toBe('One');
    expect(asked).toEqual(['beforeunload']);
  });

  it('searches what is loaded, and an email in the whole table', async () => {
    const { create, arrive, search, subjects, count, button, page, inbox } = await begin();
    await create('The oldest', 'cleo@example.com');
    const answered = await create('Answered', 'cleo@example.com');
    await inbox.answer(answered.id, { reply: 'Yes.', respondent: 'pete' });
    await Promise.all(Array.from({ length: 200 }, (_, n) => create(`Number ${n + 1}`, 'ben@example.com')));
    await arrive();
    expect(await subjects.count()).toBe(200);
    await search.fill('NUMBER 19');
    expect(await subjects.count()).toBe(11);
    expect(await count.textContent()).toContain('11 of 200 inquiries');
    await check(page);
    await search.fill('cleo@example.com');
    await page.getByText('No loaded inquiry matches.').waitFor();
    await button('Find all of this email').click();
    await expect.poll(() => subjects.allTextContents()).toEqual(['Answered', 'The oldest']);
    await check(page);
    await button('Show everybody').click();
    await expect.poll(() => subjects.count()).toBe(200);
    await button('Show older ones').click();
    await expect.poll(() => subjects.count()).toBe(201);
    expect(await subjects.last().textContent()).toBe('The oldest');
  });

  it('works with the keyboard alone', async () => {
    const { create, arrive, page, heading, reply, outcome, focused, search, inbox, button } = await begin();
    const [one, two, three] = [await create('One'), await create('Two'), await create('Three')];
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
    await outcome.getByText('Your reply is stored').waitFor();
    expect(await inbox.get(two.id)).toMatchObject({ reply: 'jkrd? are letters here' });
    // The next one has taken its place.
    await keyboard.press('j');
    await expect.poll(() => heading.textContent()).toBe('One');
    await keyboard.press('d');
    await page.getByRole('dialog').waitFor();
    await keyboard.press('Enter');
    await outcome.getByText('Dismissed').waitFor();
    expect(await inbox.get(one.id)).toHaveProperty('reply_at');
    await keyboard.press('Escape');
    await expect.poll(() => heading.count()).toBe(0);
    await keyboard.press('/');
    expect(await search.evaluate((element) => element.matches(':focus'))).toBe(true);
    await keyboard.type('thr');
    await keyboard.press('Enter');
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
    expect(await page.locator('a.row').count()).toBe(0);
    await check(page);
    await page.goto(server.url);
    await page.locator('a.row').waitFor();
    expect(page.url()).toBe(origin);
    // Neither in an address that is requested, nor in what another tab can read.
    expect(requests.filter((url) => !url.includes('#') && url.includes(secret))).toEqual([]);
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).toBe('{}');
    const other = await context.newPage();
    await other.goto(origin);
    await other.getByText('This address is not complete').waitFor();
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
    // Nothing that a user wrote moves what stands beside it.
    const isAside = `[...document.querySelectorAll('a.row')].every((row) => row.scrollWidth <= row.clientWidth)`;
    expect(await page.evaluate(isAside)).toBe(true);
    expect(await page.locator('.row-from').first().textContent()).toMatch(/^\d+\\u200b@example\.com$/);
    for (const { id, email, subject, body } of created) {
      await page.goto(`${origin}/#${id}`);
      await expect.poll(() => page.locator('.detail dd').last().textContent()).toBe(id);
      expect(await heading.evaluate((element) => element.textContent)).toBe(showInvisible(subject));
      expect(await page.locator('.detail dd').first().textContent()).toBe(showAddress(email));
      expect(await text.evaluate((element) => element.textContent)).toBe(body);
      await expectFits(page);
      expect(await page.locator('.detail :is(script, img, iframe, svg, style, meta, base)').count()).toBe(0);
    }
    await page.goto(`${origin}/#${first}`);
    await page.locator('.answer').waitFor();
    await check(page);
    expect(await page.title()).toBe('Inbox of local');
    expect(here.complaints).toEqual([]);
    expect(here.requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });

  it('shows one thing after the other on a page of 320 px', async () => {
    const { createSamples, arrive, page, rows, heading, button, reply } = await begin(PHONE);
    await createSamples();
    await arrive();
    expect(await page.locator('.detail').isVisible()).toBe(false);
    await check(page);
    await rows.first().click();
    await heading.waitFor();
    expect(await page.locator('.list').isVisible()).toBe(false);
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

  it('marks unanswered ones that expire within a week', async () => {
    const { own, arrive, rows, page } = await begin();
    const inDays = (days: number) => Math.floor(Date.now() / 1_000) + days * 86_400;
    await own.add(1, { expires_at: inDays(20) });
    await own.add(0, { expires_at: inDays(3) });
    await arrive();
    expect(await rows.nth(0).innerText()).toContain('Expires in 2 days');
    expect(await rows.nth(1).innerText()).not.toContain('Expires');
    await rows.nth(0).click();
    await expect.poll(() => page.locator('dl').innerText()).toContain('Expires');
    await check(page);
  });

  it('says that the command has ended or that an inquiry is gone, and tries again', async () => {
    const { own, create, arrive, page, rows, button, heading, context } = await begin();
    const [kept, gone] = [await create('Kept'), await create('Gone')];
    await arrive();
    await own.remove(gone);
    await rows.first().click();
    await page.getByText('There is no such inquiry').waitFor();
    await check(page);
    await context.setOffline(true);
    await rows.nth(1).click();
    await page.getByText('The inquiry could not be loaded').waitFor();
    await button('Refresh').click();
    await page.getByText('The inquiries could not be loaded').waitFor();
    await check(page);
    await context.setOffline(false);
    await page.locator('.detail').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => heading.textContent()).toBe(kept.subject);
    await page.locator('.list').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => rows.count()).toBe(1);
  });

  it('is served by npm run inbox -- --web, until the command ends', async () => {
    const { folder } = await openInbox();
    const options = ['--web', '--data', folder, '--as', 'olga'];
    const command = spawn(process.execPath, ['inbox/main.ts', ...options], { cwd: ROOT });
    const ended = once(command, 'exit');
    onTestFinished(() => void command.kill('SIGKILL'));
    let output = '';
    command.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output, { timeout: 30_000 }).toContain('\n');
    const [, address = ''] = /^Inbox +(http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43})\n$/.exec(output) ?? [];
    const { page } = await browser.open(WIDE);
    await page.goto(address);
    await page.getByRole('heading', { name: 'Inquiries' }).waitFor();
    expect(await page.locator('.account').textContent()).toContain('localolga');
    const { code, stderr } = await runInbox([...options, '--port', new URL(address).port]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is in use; choose another with --port.')]);
    command.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    await page.getByRole('button', { name: 'Refresh' }).click();
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
    const [chosen, other] = ['.shows [aria-pressed=true]', '.shows [aria-pressed=false]'] as const;
    const background = 'background-color';
    expect(await styleOf(chosen, background)).not.toBe(await styleOf(other, background));
    const [current, row] = ['a.row[aria-current]', 'a.row:not([aria-current])'] as const;
    const border = 'border-top-color';
    expect(await styleOf(current, border)).not.toBe(await styleOf(row, border));
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  });
});
