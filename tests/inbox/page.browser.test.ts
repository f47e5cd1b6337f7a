import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { MailState } from '../../inbox/connect.ts';
import { escapeText } from '../../text/visible.ts';
import type { StoredInquiry } from '../../src/entities/stored-inquiries.ts';
import { escapeAddress } from '../../text/invisible.ts';
import {
  checkPage,
  compose,
  expectFits,
  expectInView,
  openPage,
  PHONE,
  SAMPLES,
  takePicture,
  needsBrowser,
} from '../form/chromium.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';
import { openInbox, type OwnInbox } from './test-inbox.ts';

const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' };
const SAMPLE_ROWS = SAMPLES.map(([subject, body, email]) => ({ subject, body, email }));

/** What the page shows; `focus` is `a SUBJECT` for a row, or `textarea reply`. */
const LOOK = `(() => {
  const textsOf = (name) => [...document.querySelectorAll(name)].map((each) => each.textContent);
  const { activeElement } = document;
  const focused = activeElement.querySelector('.ib-subject') ?? activeElement;
  return {
    title: document.title,
    list: textsOf('.ib-subject'),
    reads: textsOf('.ib-read h2').join(),
    draft: document.querySelector('#reply')?.value,
    toasts: [...document.querySelectorAll('.ib-toast')].filter((each) => each.checkVisibility()).length,
    focus: activeElement.localName + ' ' + (focused.textContent || focused.id),
  };
})()`;

describe('the operators’ page', needsBrowser, () => {
  let page: Page;
  let requests: string[];
  let own: OwnInbox;
  let ids: string[];
  let mail: MailState;

  /** Serves these inquiries, or subjects, each later than the one before. @returns The page's address. */
  const begin = async (given: readonly (Partial<StoredInquiry> | string)[], options = WIDE) => {
    own = await openInbox();
    mail = 'sent';
    const saved = { title: 'Thanks', text: 'Hello {name}, thank you ({reference}).' };
    const url = await own.serve({ mail: async () => mail }, [saved]);
    const rows = given.map((each) => (typeof each === 'string' ? { subject: each } : each));
    const created = await Promise.all(rows.map((row, n) => own.add(9_000 - n, row)));
    ids = created.map(({ id }) => id);
    ({ page, requests } = await openPage(options));
    await page.clock.install();
    return url;
  };
  const arrive = async (url: string) => {
    await page.goto(url);
    await page.getByRole('heading', { name: /^\d+ unanswered/ }).waitFor();
    await page.locator('.ib-rows[aria-busy]').waitFor({ state: 'detached' });
  };
  const shows = async (expected: object) => {
    await expect.poll(() => page.evaluate(LOOK)).toMatchObject(expected);
  };
  const sees = async (text: string | RegExp) => page.getByText(text).first().waitFor();
  const click = async (hasText: string) =>
    page.locator('a.ib-row, button, summary').filter({ hasText }).first().click();
  const row = (hasText: string) => page.locator('a.ib-row', { hasText });
  const write = async (text: string) => page.getByRole('textbox', { name: 'Reply to' }).fill(text);
  const send = async (text: string) => {
    await write(text);
    await click('Send reply');
  };
  const search = async (text: string) => {
    await page.getByRole('searchbox').fill(text);
    await page.clock.fastForward(500);
  };
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
  /** Lets the time to undo pass, unless pointer or focus is on the button. */
  const settle = async () => {
    await page.mouse.move(900, 300);
    await page.clock.fastForward(9_000);
  };

  it('goes from answer to answer, takes each back, and lists closed ones by their answer', async () => {
    const list = SAMPLES.map(([subject]) => subject || 'No subject');
    await arrive(await begin(SAMPLE_ROWS));
    await shows({ title: '(5) Inbox of local', list, focus: 'h2 No subject' });
    await click('Oldest first');
    await shows({ list: list.toReversed() });
    await click('Café');
    await shows({ reads: list[4] });
    await write('Bonjour Ana,\n\navec plaisir : une table vous attend.\n\nOlga');
    await checkPage(page);
    await takePicture(page, 'inbox');
    await click('Newest first');
    await shows({ list });
    await click('No subject');
    await sees('The reply is mailed to eli@example.com.');
    await click('Send reply');
    await sees('Write the answer first.');
    await click('Saved replies');
    await checkPage(page);
    await click('Thanks');
    const draft = `Hello Eli, thank you (${ids[0]?.slice(0, 13)}).`;
    for (const [key, text] of [
      ['Control+z', ''],
      ['Control+Shift+z', draft],
    ] as const) {
      await page.keyboard.press(key);
      await shows({ draft: text });
    }
    expect(await page.getByText('Write the answer first.').count()).toBe(0);
    // The test's clock ends the time to undo.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press('Control+Enter');
    await shows({ draft: '', reads: list[1] });
    await page.clock.fastForward(2_000);
    for (const reads of list.slice(1, 4)) {
      await shows({ reads });
      await page.keyboard.up('d');
      await page.keyboard.down('d');
    }
    await shows({ reads: list[4], title: '(1) Inbox of local', toasts: 1 });
    await sees('4 answered or dismissed');
    await page.keyboard.press('d');
    await sees('4 answered or dismissed');
    await click('Undo last');
    await shows({ reads: list[3], title: '(2) Inbox of local', toasts: 3 });
    await click('Undo');
    await shows({ reads: 'No subject', draft, toasts: 2 });
    await click('Opening hours');
    await shows({ reads: list[3], title: '(3) Inbox of local' });
    await send('Yes.');
    await shows({ reads: list[4] });
    await stores(...Array<undefined>(5));
    await page.locator('.ib-toast').last().hover();
    await page.clock.fastForward(9_000);
    await stores(undefined, '', '', undefined, undefined);
    await page.clock.resume();
    await checkPage(page);
    await settle();
    await stores(undefined, '', '', 'Yes.', undefined);
    await answer(0);
    await click('Closed');
    await sees('Dismissed by pete');
    await sees('Answered by olga');
    await click('Latest answer first');
    await shows({ list: list.slice(0, 4).toReversed(), toasts: 0 });
    // The system replaces colours.
    await page.emulateMedia({ forcedColors: 'active' });
    const backgrounds = `new Set([true, false].map((state) =>
      getComputedStyle(document.querySelector('[aria-pressed=' + state + ']')).backgroundColor)).size`;
    expect(await page.evaluate(backgrounds)).toBe(2);
  });

  it('works with the keyboard alone', async () => {
    await arrive(await begin(['Three', 'Two', 'One']));
    for (const [key, reads, focus] of [
      ['j', 'Two', 'h2 Two'],
      ['Escape', '', 'a Two'],
      ['ArrowDown', '', 'a One'],
      ['k', '', 'a Two'],
      ['Enter', 'Two', 'h2 Two'],
      ['r', 'Two', 'textarea reply'],
      ['j', 'Two', 'textarea reply'],
      ['Control+Enter', 'One', 'h2 One'],
      ['d', 'Three', 'h2 Three'],
      ['Escape', '', 'a Three'],
      ['/', '', 'input search'],
      ['ArrowDown', '', 'a Three'],
      ['Enter', 'Three', 'h2 Three'],
      ['r', 'Three', 'textarea reply'],
      ['Escape', 'Three', 'h2 Three'],
      // WCAG 2.2, 2.1.4
      ['?', 'Three', 'input '],
      ['Space', 'Three', 'input '],
      ['Escape', 'Three', 'h2 Three'],
      ['r', 'Three', 'h2 Three'],
    ] as const) {
      if (key === 'd') await page.clock.fastForward(2_000);
      await page.keyboard.press(key);
      await shows({ reads, focus });
      if (key === '?') await checkPage(page);
    }
    await settle();
    await stores(undefined, 'j', '');
  });

  it('changes nothing by a key that may be meant for a text', async () => {
    await arrive(await begin(['Three', 'Two', 'One']));
    await page.clock.pauseAt(Date.now() + 60_000);
    await write('Yes');
    await page.keyboard.press('Control+Enter');
    await shows({ reads: 'Two', toasts: 1 });
    // By mistake: the user types on.
    for (let n = 0; n < 3; n++) {
      await page.keyboard.type('Monday, and paid');
      await page.clock.runFor(1_999);
    }
    await page.keyboard.press('d');
    await shows({ reads: 'Two', toasts: 1 });
    await page.clock.runFor(1);
    await page.keyboard.press('d');
    await shows({ reads: 'One', toasts: 2 });
    await sees('Dismissed: ana@example.com, Two');
    // An input method takes these keys; Chromium tells so in two ways.
    await write('日本');
    const pressed = `(id, init) => document.getElementById(id).dispatchEvent(
      new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))`;
    for (const method of [{ isComposing: true }, { keyCode: 229 }]) {
      for (const key of [{ key: 'Enter', ctrlKey: true }, { key: 'Escape' }]) {
        await page.evaluate(`(${pressed})('reply', ${JSON.stringify({ ...key, ...method })})`);
        await shows({ reads: 'One', draft: '日本', focus: 'textarea reply' });
      }
    }
    await page.getByRole('searchbox').focus();
    await compose(page, 'にほん');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').inputValue()).toBe('にほん');
  });

  it('says before anyone writes that no mail goes out, and which replies came back', async () => {
    const subject = `soon ${'long '.repeat(200)}`;
    const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400;
    const noMail = { subject, email: 'müller@example.de', body: ' ', expires_at };
    const url = await begin(['Bounced', noMail, 'Last']);
    await answer(0, 'Yes.');
    const undelivered_at = new Date().toISOString();
    await own.deliveries
      .put({
        inquiry: ids[0] ?? '',
        mail: 'reply',
        undelivered: 'bounce',
        undelivered_at,
        expires_at,
      })
      .go();
    await arrive(url);
    await sees('No mail can be sent to this address');
    await sees('No message');
    await sees('Expires in 2d');
    await shows({ reads: `${subject.slice(0, 200)}…` });
    await click('Details');
    await page.locator('dd', { hasText: subject }).waitFor();
    await checkPage(page);
    await write('Ja, {first name}.');
    await click('Record the answer');
    await sees('Nothing replaces {first name}: send again if this is meant.');
    await checkPage(page);
    await click('Record the answer');
    await shows({ reads: 'Last' });
    await settle();
    await stores('Yes.', 'Ja, {first name}.', undefined);
    mail = 'none';
    await page.reload();
    await sees('This stage sends no mail');
    await click('1 came back');
    await click('Not delivered: the mail came back');
    await sees(/We learned on .* that the mail came back/);
    await checkPage(page);
    await click('1 more from this address');
    await shows({ list: ['Last', 'Bounced'], reads: '' });
  });

  it('shows another’s answer, and loses nothing where a request or its response is lost', async () => {
    await arrive(await begin(['Who is faster?', 'Once']));
    await write('My answer');
    await answer(0, 'The answer of Pete');
    await click('Send reply');
    await settle();
    await sees(/by pete at \d+ \w+ \d+, \d\d:\d\d/);
    await checkPage(page);
    await click('Open it');
    await sees('The answer of Pete');
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My answer');
    await checkPage(page);
    await click('Once');
    await shows({ reads: 'Once' });
    await page.route('**/reply', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await send('Once only.\n');
    await settle();
    await sees('Not answered');
    await click('Open it');
    await page.locator('.ib-answer').getByText('Once only.').waitFor();
    expect(await unsent.count()).toBe(0);
    await click('All');
    await page.context().setOffline(true);
    await click('Who is faster?');
    await sees('Is npm run inbox -- --web still running?');
    await click('Closed');
    await sees('The inquiries could not be loaded');
    await checkPage(page);
    await page.context().setOffline(false);
    await page.locator('.ib-detail').getByText('Try again').click();
    await sees('The answer of Pete');
    await page.clock.fastForward(26_000);
    await shows({ list: ['Once', 'Who is faster?'] });
  });

  it('offers what was written to an inquiry that is gone, until it is deleted', async () => {
    const url = await begin(['Erased later']);
    await arrive(url);
    await write('My text');
    await own.remove((await own.inbox.get(ids[0] ?? '')) as StoredInquiry);
    await page.goto(url.replace(/#.*/, ''));
    await sees(`Your text is kept: ${ids[0]?.slice(0, 13)}`);
    await click('Open it');
    await sees('There is no such inquiry');
    const unsent = page.getByRole('textbox', { name: 'Your text, which was not sent' });
    expect(await unsent.inputValue()).toBe('My text');
    await checkPage(page);
    await page.getByRole('button', { name: 'Copy your text' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('My text');
    await click('Delete this text');
    expect(await unsent.count()).toBe(0);
    await page.reload();
    await sees('Nothing to answer');
  });

  it('shows at the next look, in view of a phone, what a colleague has answered', async () => {
    const viewport = { width: 360, height: 640 };
    const body = 'A line of the inquiry.\n'.repeat(60);
    await arrive(await begin([{ subject: 'Both', body }, 'Other'], { ...WIDE, viewport }));
    await click('Both');
    await write('My answer');
    await answer(0, 'The answer of Pete');
    await page.clock.fastForward(26_000);
    const notice = page.getByText('pete has answered this meanwhile');
    await notice.waitFor();
    await expectInView(notice);
    await page.locator('.ib-answer').getByText('The answer of Pete').waitFor();
    await shows({ reads: 'Both', focus: 'textarea My answer', list: ['Other'] });
    await checkPage(page);
  });

  it('keeps drafts over a reload, warns before they are lost, and sends what waits', async () => {
    const asked: string[] = [];
    // More than a browser sends when a page is left.
    const [one = '', two = ''] = ['1', '2'].map((digit) => digit.repeat(40_000));
    const url = await begin(['One', 'Two', 'Three']);
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await arrive(url);
    await write(one);
    await click('Two');
    await shows({ reads: 'Two', draft: '' });
    await write(two);
    await row('One').getByText('Draft').waitFor();
    await page.reload();
    await shows({ reads: 'Two', draft: two });
    expect(asked).toEqual(['beforeunload']);
    await page.clock.pauseAt(Date.now() + 60_000);
    await click('Send reply');
    await shows({ reads: 'Three' });
    await write('x');
    await write('');
    await click('One');
    await shows({ draft: one });
    await click('Send reply');
    await shows({ reads: 'Three' });
    await stores(undefined, two, undefined);
    // The page knows that it is stored, or it would ask.
    const hasDraft = `sessionStorage.getItem('inbox.drafts').includes('${'2'.repeat(9)}')`;
    await expect.poll(() => page.evaluate(hasDraft)).toBe(false);
    await page.goto('about:blank');
    await stores(one, two, undefined);
    await page.goBack();
    await shows({ list: ['Three'] });
    await expect.poll(() => page.evaluate(`sessionStorage.getItem('inbox.drafts')`)).toBe('[]');
    expect(asked).toEqual(['beforeunload']);
  });

  it('searches everything, shows new ones by itself, and does not move what is read', async () => {
    const list = Array.from({ length: 70 }, (_, n) => `Number ${n + 1}`);
    const body = 'Wo bleibt meine Rücksendung?';
    const url = await begin([{ subject: 'The oldest', body }, ...list]);
    await answer(0, 'Yes.');
    await arrive(url);
    await click('Show more');
    await shows({ list, focus: 'a Number 51' });
    await click('Number 20');
    await shows({ reads: 'Number 20' });
    await write('half a senten');
    const top = async () => (await row('Number 20').boundingBox())?.y ?? NaN;
    const before = await top();
    await answer(1, 'Done.');
    await own.add(0, { subject: 'New one' });
    await page.clock.fastForward(26_000);
    await page.getByText('1 new inquiry').waitFor({ state: 'attached' });
    await shows({
      title: '(70) Inbox of local',
      list: [...list.slice(1), 'New one'],
      draft: 'half a senten',
      focus: 'textarea reply',
    });
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
    await search('RUECKSENDUNG');
    await sees('1 match');
    await shows({ list: ['The oldest'] });
    const hits = await page.evaluate(`[...CSS.highlights.get('inquiries-found')].map(String)`);
    expect(hits).toEqual(['Rücksendung']);
    await search('');
    await sees('70 unanswered');
  });

  it('refuses a wrong secret, hides the right one, and shows list or inquiry on a phone', async () => {
    const url = await begin(SAMPLE_ROWS, PHONE);
    const [origin = '', secret = ''] = url.split('#');
    await page.goto(origin);
    await sees('This address is not complete');
    await sees('Take it from the other tab');
    await checkPage(page);
    await page.goto(`${origin}#${secret.slice(0, -1)}x`);
    await sees('This address is not the right one');
    await sees('npm run inbox -- --web');
    await arrive(url);
    expect(page.url()).toBe(origin);
    // Neither in a requested address, nor readable by another tab.
    expect(requests.filter((each) => /^[^#]*$/.test(each) && each.includes(secret))).toEqual([]);
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).toBe('{}');
    expect(await page.locator('.ib-detail').isVisible()).toBe(false);
    await checkPage(page);
    await click('سؤال');
    await shows({ reads: SAMPLES[2][0] });
    await write('Avec plaisir.');
    expect(await page.locator('.ib-list').isVisible()).toBe(false);
    await checkPage(page);
    await click('Back to the list');
    await shows({ focus: `a ${SAMPLES[2][0]}` });
    await click('سؤال');
    await shows({ focus: `h2 ${SAMPLES[2][0]}` });
    await page.keyboard.press('/');
    await shows({ focus: 'input search' });
    // A new tab gets the secret from this one, and once this is closed from nobody.
    const context = page.context();
    const other = await context.newPage();
    await other.goto(new URL((await row('Café').getAttribute('href')) ?? '', origin).href);
    await other.locator('.ib-text').waitFor();
    expect(other.url()).not.toContain(secret);
    await Promise.all([page.close(), other.close()]);
    page = await context.newPage();
    await page.goto(origin);
    await sees('This address is not complete');
  });

  it('shows hostile texts as they are, within their columns, and runs nothing of them', async () => {
    const rows = HOSTILE_TEXTS.map((text, n) => ({
      subject: text,
      body: text,
      email: `${'long.address-'.repeat(n % 5)}${n}\u200B@${'sub-domain.'.repeat(n % 9)}example.com`,
    }));
    const url = await begin(rows);
    const { origin } = new URL(url);
    const [reply, respondent = ''] = [HOSTILE_TEXTS.join('\n'), HOSTILE_TEXTS[1]];
    await own.answer(ids[0] ?? '', { reply, respondent });
    await arrive(url);
    await click('All');
    await click('Show more');
    await expect.poll(() => row('').count()).toBe(rows.length);
    await checkPage(page);
    const texts = page.locator('.ib-details dd:nth-of-type(1), .ib-sender, .ib-text');
    for (const [n, { email, body }] of rows.entries()) {
      await page.goto(`${origin}/#${ids[n]}`);
      const shown = escapeText(body);
      const expected = [escapeAddress(email), ids[n], shown.trim() === '' ? 'No message' : shown];
      await expect.poll(() => texts.allTextContents()).toEqual(expected);
    }
    expect(await page.locator('main :is(script, img, iframe, svg, style, base)').count()).toBe(0);
    const wide = `[...document.querySelectorAll('.ib-panes > * *:not(:is(.ib-dock, .ib-toast) bdi)')]
      .filter((each) => {
        const { right, width } = each.getBoundingClientRect();
        return width > 1 && right > each.closest('.ib-panes > *').getBoundingClientRect().right + 1;
      })
      .map(({ outerHTML }) => outerHTML.slice(0, 80))`;
    const sizes = [
      { width: 1280, height: 800 },
      { width: 1024, height: 600 },
      { width: 360, height: 740 },
      { width: 320, height: 256 },
    ];
    for (const size of sizes) {
      await page.setViewportSize(size);
      await page.goto(`${origin}/#${ids.pop()}`);
      for (const key of ['Shift', 'd', 'Escape']) {
        await page.keyboard.press(key);
        const state = key === 'Escape' ? 'detached' : 'visible';
        await page.locator('.ib-sender').waitFor({ state });
        expect([size, key, await page.evaluate(wide)]).toEqual([size, key, []]);
        await expectFits(page);
      }
    }
    expect(await page.title()).toMatch(/^\(\d+\) Inbox of local$/);
    expect(requests.filter((each) => new URL(each).origin !== origin)).toEqual([]);
  });
});
