import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import type { MailState } from '../../inbox/connect.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { escapeAddress } from '../../text/invisible.ts';
import { escapeText } from '../../text/visible.ts';
import {
  checkPage,
  expectFits,
  openPage,
  PHONE,
  SAMPLES,
  takePicture,
  needsBrowser,
} from '../form/chromium.ts';
import { createClient } from '../../local/database/table.ts';
import { putInquiries } from '../function/test-inquiries.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';
import { openInbox, type OwnInbox } from './test-inbox.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' };
const SAMPLE_ROWS = SAMPLES.map(([subject, body, email]) => ({ subject, body, email }));

describe('the operators’ page', needsBrowser, () => {
  let page: Page;
  let requests: string[];
  let own: OwnInbox;
  let ids: string[];
  let mail: MailState;
  let hasScripts: boolean;

  /** Serves these inquiries, or subjects, each later than the one before, and opens the list. */
  const begin = async (given: readonly (Partial<StoredInquiry> | string)[], options = WIDE) => {
    own = await openInbox();
    mail = 'sent';
    hasScripts = options.javaScriptEnabled !== false;
    const saved = { title: 'Thanks', text: 'Hello {name}, thank you ({reference}).' };
    const address = await own.serve({ mail: async () => mail }, [saved]);
    const rows = given.map((each) => (typeof each === 'string' ? { subject: each } : each));
    const created = await Promise.all(rows.map((row, n) => own.add(9_000 - n, row)));
    ids = created.map(({ id }) => id);
    ({ page, requests } = await openPage(options));
    if (hasScripts) await page.clock.install();
    await page.goto(address);
    await sees(/^\d+ unanswered/);
    const { origin } = new URL(address);
    // The secret has left the address.
    expect(page.url()).toBe(`${origin}/`);
    return origin;
  };
  const sees = async (text: string | RegExp) =>
    page.getByText(text).filter({ visible: true }).first().waitFor();
  const click = async (hasText: string) =>
    page.locator('a, button, summary').filter({ hasText, visible: true }).first().click();
  const lists = async (...subjects: string[]) =>
    await expect.poll(() => page.locator('.subject').allTextContents()).toEqual(subjects);
  const reads = async (subject: string) =>
    page.getByRole('heading', { level: 1, name: subject }).waitFor();
  /** Clicks what an access key presses, since a driven browser takes none. */
  const press = async (key: string) => page.locator(`[accesskey=${key}]`).click();
  const box = () => page.getByRole('textbox', { name: 'Reply to' });
  const unsent = () => page.getByRole('textbox', { name: 'Your text, which was not sent' });
  const holds = async (text: string) => await expect.poll(() => box().inputValue()).toBe(text);
  const answer = async (n: number, reply?: string) =>
    own.answer(ids[n] ?? '', { respondent: 'pete', reply });
  /** The replies in the table, '' for a dismissal. */
  const stores = async (...replies: (string | undefined)[]) => {
    const read = async (id: string) => {
      const { respondent, reply = respondent && '' } = (await own.inbox.get(id)) ?? {};
      return reply;
    };
    await expect.poll(() => Promise.all(ids.map(read))).toEqual(replies);
  };
  const check = async () => {
    if (hasScripts) await checkPage(page);
  };
  /** After it, the script has asked the server once more. */
  const wait = async () => page.clock.runFor(26_000);

  it.each([
    ['with', true],
    ['without', false],
  ])('goes from answer to answer, %s scripts', async (_, javaScriptEnabled) => {
    const list = SAMPLES.map(([subject]) => subject || 'No subject');
    await begin(SAMPLE_ROWS, { ...WIDE, javaScriptEnabled });
    await lists(...list);
    expect(await page.title()).toBe('(5) Unanswered – Inbox of local');
    await check();
    await click('Oldest first');
    await lists(...list.toReversed());
    await click('Café');
    await box().fill('Bonjour Ana,\n\navec plaisir : une table vous attend.\n\nOlga');
    await check();
    await takePicture(page, 'inbox');
    await page.goBack();
    await click('No subject');
    await sees('The reply is mailed to eli@example.com.');
    await click('Send reply');
    await sees('Write the answer first.');
    await click('Saved replies');
    await check();
    await click('Thanks');
    await holds(`Hello Eli, thank you (${ids[0]?.slice(0, 13)}).`);
    await box().fill('Hello {first name}!');
    await click('Send reply');
    await sees('Nothing replaces {first name}: send again if this is meant.');
    await check();
    await click('Send reply');
    await sees('Answered: No subject');
    await reads(list[1] ?? '');
    await box().fill('a text');
    await click('Dismiss');
    await sees('send it, or empty the box to dismiss');
    await box().fill('');
    await click('Dismiss');
    await sees(`Dismissed: ${list[1]}`);
    await reads(list[2] ?? '');
    await check();
    await stores('Hello {first name}!', '', undefined, undefined, undefined);
    await click('Reopen');
    await sees(`Reopened: ${list[1]}`);
    await stores('Hello {first name}!', undefined, undefined, undefined, undefined);
    await answer(2);
    await page.getByRole('link', { name: 'Answered', exact: true }).click();
    await sees('Dismissed by pete');
    await sees('Answered by olga');
    await lists(list[2] ?? '', list[0] ?? '');
    await check();
    await click('Search');
    await page.getByRole('searchbox').fill('RESERVATION cafe');
    await page.keyboard.press('Enter');
    await sees('1 match');
    expect(await page.locator('mark').allTextContents()).toEqual(['Café', 'réservation']);
    await check();
    await click('Café');
    expect(await page.locator('h1 mark').allTextContents()).toEqual(['Café', 'réservation']);
    expect(requests.filter((each) => /reservation|example\.com|first/i.test(each))).toEqual([]);
  });

  it('says before anyone writes that no mail goes out, and which replies came back', async () => {
    const subject = `soon ${'long '.repeat(200)}`;
    const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400;
    const noMail = { subject, email: 'müller@example.de', body: ' ', expires_at };
    await begin(['Bounced', noMail, 'Last']);
    await answer(0, 'Yes.');
    const undelivered_at = new Date().toISOString();
    const bounce = { mail: 'reply', undelivered: 'bounce', undelivered_at, expires_at } as const;
    await own.deliveries.put({ inquiry: ids[0] ?? '', ...bounce }).go();
    await sees('Expires in 2d');
    await click('soon');
    await sees('No mail can be sent to this address');
    await sees('No message');
    await page.locator('dd', { hasText: subject }).waitFor();
    expect(await page.locator('h1').textContent()).toBe(`${subject.slice(0, 200)}…`);
    await check();
    mail = 'none';
    await box().fill('Ja.');
    await click('Record the answer');
    await reads('Last');
    await sees('This stage sends no mail');
    await stores('Yes.', 'Ja.', undefined);
    await click('Came back');
    await click('Not delivered: the mail came back');
    await sees(/We learned on [^]* came back/);
    await check();
    await click('from this address');
    await lists('Last', 'Bounced');
  });

  it.each([
    ['with', true],
    ['without', false],
  ])('shows both texts where a colleague was faster, %s scripts', async (_, javaScriptEnabled) => {
    const origin = await begin(['Both', 'Erased later'], { ...WIDE, javaScriptEnabled });
    await click('Both');
    const mine = '\n</textarea>My answer';
    await box().fill(mine);
    await answer(0, 'The answer of Pete');
    await click('Send reply');
    await sees('pete has answered this meanwhile. Your text was not sent');
    await sees('The answer of Pete');
    expect(await unsent().inputValue()).toBe(mine);
    await check();
    const copy = page.locator('[data-copy=unsent]');
    if (javaScriptEnabled) await copy.click();
    else await copy.waitFor({ state: 'hidden' });
    const copied = `navigator.clipboard.readText()`;
    expect(javaScriptEnabled ? await page.evaluate(copied) : mine).toBe(mine);
    await page.goto(`${origin}/inquiries/${ids[1]}`);
    await box().fill('To nobody');
    await own.remove((await own.inbox.get(ids[1] ?? '')) as StoredInquiry);
    await click('Send reply');
    await sees('There is no such inquiry');
    expect(await unsent().inputValue()).toBe('To nobody');
    await check();
  });

  it('shows new inquiries and a colleague’s answer by itself, and loses no typed text', async () => {
    await begin(['One', 'Two']);
    await page.locator('.row').first().focus();
    await own.add(0, { subject: 'New one' });
    await wait();
    await sees('New inquiries: 1');
    await lists('One', 'Two', 'New one');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('One');
    expect(await page.title()).toBe('(3) Unanswered – Inbox of local');
    await click('One');
    await box().fill('half a senten');
    await answer(0, 'The answer of Pete');
    await wait();
    await sees('pete has answered this');
    await holds('half a senten');
    await check();
  });

  it('keeps a draft in its tab until Ctrl+Enter has sent it, and asks before it is lost', async () => {
    const asked: string[] = [];
    const origin = await begin(['One', 'Two']);
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await click('One');
    await box().fill('My draft');
    await press('j');
    await reads('Two');
    await page.keyboard.press('k');
    await press('k');
    await holds('My draft');
    await press('u');
    await page.goBack();
    await holds('My draft');
    expect(asked).toEqual([]);
    await page.reload();
    await holds('My draft');
    expect(asked).toEqual(['beforeunload']);
    // Neither Enter alone nor that of an input method sends it.
    await press('r');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Backspace');
    const composing = `document.getElementById('reply').dispatchEvent(new KeyboardEvent('keydown',
      { key: 'Enter', ctrlKey: true, bubbles: true, isComposing: true }))`;
    await page.evaluate(composing);
    await stores(undefined, undefined);
    // The answer is recorded, and its response is lost.
    await page.route('**/reply', async (route) => {
      await route.fetch({ maxRedirects: 0 });
      await route.abort();
    });
    await box().press('Control+Enter');
    await stores('My draft', undefined);
    await page.goto(`${origin}/inquiries/${ids[0]}`);
    await sees('olga has answered this');
    expect(await unsent().count()).toBe(0);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    // A full storage takes no draft.
    await page.goto(`${origin}/inquiries/${ids[1]}`);
    await page.evaluate(
      `Storage.prototype.setItem = () => { throw new Error('QuotaExceededError') }`,
    );
    await box().fill('x');
    await page.goto('about:blank');
    expect(asked).toEqual(['beforeunload', 'beforeunload']);
  });

  it.each([
    ['with', true],
    ['without', false],
  ])(
    'leads through the sign-in, and sends what an ended session kept, %s scripts',
    async (_, javaScriptEnabled) => {
      const stack = inject('stack');
      const table = { name: stack.tableName, client: createClient(stack.engineUrl) };
      const [{ id } = { id: '' }] = await putInquiries(table, [{ subject: 'From a mail' }]);
      const visit = await openPage({ ...PHONE, javaScriptEnabled });
      ({ page } = visit);
      const signIn = async () => {
        await click('olga@example.com');
        await reads('From a mail');
      };
      await page.goto(`${stack.inboxUrl}/inquiries/${id}`);
      await signIn();
      await box().fill('My text');
      await visit.context.clearCookies();
      await click('Send reply');
      await sees('You are not signed in any more');
      expect(await unsent().inputValue()).toBe('My text');
      const refused = page;
      if (javaScriptEnabled) {
        await click('Sign in');
        await signIn();
        await holds('My text');
        await click('Send reply');
      } else {
        // The sign-in has a tab of its own, so that the text stays.
        const opened = visit.context.waitForEvent('page');
        await click('Sign in');
        page = await opened;
        await signIn();
        page = refused;
        await click('Send it again');
      }
      await sees('Answered: From a mail');
    },
  );

  it('shows hostile texts as they are, within their columns, and runs nothing of them', async () => {
    const rows = HOSTILE_TEXTS.map((text, n) => ({
      subject: text,
      body: text,
      email: `${'long.address-'.repeat(n % 5)}${n}\u200B@${'sub-domain.'.repeat(n % 9)}example.com`,
    }));
    const origin = await begin(rows);
    const [reply, respondent = ''] = [HOSTILE_TEXTS.join('\n'), HOSTILE_TEXTS[1]];
    await own.answer(ids[0] ?? '', { reply, respondent });
    const sizes = [
      { width: 1280, height: 800 },
      { width: 1024, height: 600 },
      { width: 360, height: 740 },
      // 1,280 pixels at 400 %.
      { width: 320, height: 256 },
    ];
    const wide = `[...document.querySelectorAll('main *, header *')]
      .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 &&
        !each.closest('.from, .subject, .beginning, .who'))
      .map(({ outerHTML }) => outerHTML.slice(0, 80))`;
    const fits = async () => {
      for (const size of sizes) {
        await page.setViewportSize(size);
        expect([size, await page.evaluate(wide)]).toEqual([size, []]);
        await expectFits(page);
      }
    };
    // Parsing a page takes a tenth of the time; the policy of the pages forbids it there.
    const parser = await page.context().newPage();
    const readAt = async (path: string) => {
      const html = await page.evaluate<string>(`fetch('${path}').then((each) => each.text())`);
      return parser.evaluate<string[]>(`(() => {
        const parsed = new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html');
        const texts = parsed.querySelectorAll('dd:nth-of-type(1), .meta .from, .body');
        return [...texts].map((each) => each.textContent);
      })()`);
    };
    for (const [n, { email, body }] of rows.entries()) {
      const path = `/inquiries/${ids[n]}`;
      const shown = escapeText(body);
      const expected = [escapeAddress(email), shown.trim() === '' ? 'No message' : shown, ids[n]];
      if (n % 10 === 0) {
        await page.goto(origin + path);
        await fits();
      }
      expect(await readAt(path)).toEqual(expected);
    }
    await page.goto(`${origin}/?show=all`);
    await fits();
    await checkPage(page);
    await page.emulateMedia({ forcedColors: 'active', media: 'print' });
    expect(await page.locator('main :is(script, img, iframe, svg, style, base)').count()).toBe(0);
    expect(requests.filter((each) => new URL(each).origin !== origin)).toEqual([]);
  });
});
