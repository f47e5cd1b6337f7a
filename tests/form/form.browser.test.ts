import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectInView, PHONE, setOnline } from './chromium.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { unless } from '../helpers/needs.ts';
import {
  stack,
  anyone,
  beginWith,
  createToken,
  numbered,
  post,
  paste,
  openTab,
  intercept,
  hold,
  changeSession,
  arrive,
  begin,
  signIn,
} from './contact-form.ts';

it('asks for a message, sends once, and lists what was sent on top', async () => {
  const email = anyone().replace('ana', 'müller');
  const visit = await begin({}, email);
  const { submit, page, see, seeIn, lacks, lists, focusIs, posts, send, subject, message, button } =
    visit;
  const list = page.getByRole('heading', { name: 'Your inquiries' });
  await list.waitFor({ state: 'hidden' });
  await see(/We can’t send email to .*müller.*In your message, /);
  await visit.write('a subject is no message', '  ');
  for (const press of [
    async () => send.click(),
    async () => subject.press('Enter'),
    async () => message.press('Control+Enter'),
  ]) {
    await page.locator('#body[required][aria-invalid=false]').waitFor();
    await press();
    await see('Please write a message.');
    await page.locator('#body:focus[aria-invalid=true]').waitFor();
    await page.keyboard.type(' ');
    await lacks('Please write a message.');
  }
  expect(posts).toEqual([]);
  await submit('first', 'one\n\ntwo');
  await see('how else we can reach you, please write another');
  await lacks('by email to');
  const card = page.locator('form');
  const placed = await card.evaluate((element) => element.getBoundingClientRect().x);
  await submit('second');
  await focusIs('We’ve received your inquiry');
  expect(await card.evaluate((element) => element.getBoundingClientRect().x)).toBe(placed);
  await lists('second', 'first');
  expect(await visit.items.last().locator('.text').innerText()).toBe('one\n\ntwo');
  await page.reload();
  await lists('second', 'first');
  await list.waitFor();
  const release = await hold(page, 'POST');
  await visit.write('once');
  posts.length = 0;
  // Enter ends a composition; Safari tells so by the code alone.
  for (const init of ['isComposing: true', 'keyCode: 229']) {
    const enter = `new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, ${init} })`;
    await page.evaluate(`document.querySelector('#body').dispatchEvent(${enter})`);
  }
  expect(posts).toEqual([]);
  await send.dblclick();
  await message.press('Control+Enter');
  await see('Sending…');
  // The user has moved on, and keeps the focus.
  await button('Refresh').focus();
  release();
  await seeIn('[role=status]', 'received your inquiry');
  await focusIs('Refresh');
  expect(posts).toHaveLength(1);
  await visit.stored('once', 'second', 'first');
});

it('keeps a draft for its user until it is sent', async () => {
  const mine = await begin();
  const { deliver, page, click, write, email, lists, requests } = mine;
  const keeps = async () => mine.holds('a draft', 'with\ntwo lines');
  await deliver('mine', 'secret');
  await write('a draft', 'with\ntwo lines');
  await page.reload();
  await keeps();
  await click('Sign out', 'Keep it and sign out');
  await mine.signIn(anyone());
  await mine.holds('');
  expect(await page.content()).not.toContain('secret');
  await click('Sign out');
  await mine.signIn(email);
  await keeps();
  await deliver();
  await page.reload();
  await lists('a draft', 'mine');
  await mine.holds('');
  // No other site gets a request.
  const hosts = new Set(requests.map((url) => new URL(url).origin));
  expect([...hosts].toSorted()).toEqual([stack.formUrl, stack.url, stack.issuer.url].toSorted());
});

it('stays in view beside a long list, or has a button that leads back to it', async () => {
  const body = 'line\n'.repeat(30);
  const long = 'subject '.repeat(100);
  const rows = [...numbered(10, body), [long, body], [long]] as const;
  const { page, send, button, focusIs, see, subject, items } = await beginWith(rows);
  await see('12 inquiries');
  await page.locator('h4.cut').nth(1).waitFor();
  // The first frame shows the layout, the second records its shifts.
  const moved = await page.evaluate(`new Promise((resolve) => {
    const nodes = [];
    const add = (list) => list.getEntries().forEach(({ sources }) => nodes.push(...sources.flatMap(({ node }) => node ?? [])));
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    const isOutside = (node) => !node.parentElement?.closest('.item');
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>
      resolve(nodes.filter(isOutside).map(({ outerHTML }) => outerHTML)))));
  })`);
  expect(moved).toEqual([]);
  await items.last().scrollIntoViewIfNeeded();
  expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
  await expectInView(send);
  await page.evaluate('scrollTo(0, 0)');
  await page.setViewportSize({ width: 900, height: 480 });
  const back = button('Write to us');
  await back.waitFor({ state: 'hidden' });
  await items.nth(6).evaluate((element) => element.scrollIntoView());
  await back.waitFor();
  await expectInView(back);
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  const list = await page.locator('.list').boundingBox();
  const { y = 0 } = (await back.boundingBox()) ?? {};
  expect(y).toBeGreaterThanOrEqual((list?.y ?? 0) + (list?.height ?? 0));
  await back.click();
  await focusIs('subject');
  await expectInView(subject);
  await back.waitFor({ state: 'hidden' });
});

it('works by keyboard alone', async () => {
  const { page, button, emailField, subject, message, send, see } = await arrive();
  const { keyboard } = page;
  const tabTo = async (place: Locator, text = '') => {
    await place.waitFor();
    for (let presses = 0; presses < 20; presses++) {
      await keyboard.press('Tab');
      if ((await place.and(page.locator(':focus')).count()) === 0) continue;
      return text === '' ? keyboard.press('Enter') : keyboard.type(text);
    }
    throw new Error(`Tab does not lead to ${String(place)}`);
  };
  await tabTo(button('Sign in'));
  await tabTo(emailField, anyone());
  await keyboard.press('Enter');
  await tabTo(subject, 'by hand');
  await tabTo(message, 'line\nline');
  await tabTo(send);
  await see('received your inquiry');
  await tabTo(button('by hand'));
  await button('by hand').and(page.locator('[aria-expanded=true]')).waitFor();
});

it('keeps the text offline, and loads the list when the browser is online again', async () => {
  const { page, write, send, see, lacks, stored, lists, ...visit } = await begin();
  await visit.deliver('before');
  await write('later');
  await setOnline(page, false);
  await post(visit.email, 'elsewhere');
  await visit.click('Refresh');
  await see('They’ll load when you’re back online');
  await send.click();
  await see('You’re offline', 'We can’t tell yet');
  await setOnline(page, true);
  await see('You’re connected again');
  await lacks('You’re offline');
  await lists('elsewhere', 'before');
  await lacks('couldn’t load');
  await stored('elsewhere', 'before');
  await send.click();
  await lists('later', 'elsewhere', 'before');
  const sent = Promise.withResolvers<void>();
  let loads = 0;
  await intercept(page, 'GET', async (route) => {
    const response = await route.fetch();
    if (loads++ === 0) await sent.promise;
    await route.fulfill({ response });
  });
  await visit.click('Refresh');
  await expect.poll(() => loads).toBe(1);
  await visit.deliver('meanwhile');
  sent.resolve();
  await expect.poll(() => loads).toBe(2);
  await lists('meanwhile', 'later', 'elsewhere', 'before');
});

it('grows with the message, and refuses what cannot fit', async () => {
  const { send, see, message, page, posts, focusIs } = await begin({
    viewport: { width: 700, height: 900 },
  });
  const height = async () => message.evaluate(({ clientHeight }) => clientHeight);
  const empty = await height();
  await paste(message, 'line\n'.repeat(20_000));
  expect(await height()).toBeGreaterThan(empty + 50);
  // The page scrolls beside the box, and the button is seen with it.
  await page.setViewportSize({ width: 700, height: 400 });
  expect(await height()).toBeLessThan(240);
  await send.scrollIntoViewIfNeeded();
  await expectInView(send);
  // The texts fit, but not with the names and keys that are stored with them.
  await paste(message, 'x'.repeat(400 * 1024 - 10));
  await see('400 kB of 400 kB');
  await send.click();
  await see('Your inquiry is too long');
  await send.click();
  await focusIs('body');
  await paste(message, 'é'.repeat(200 * 1024 + 1));
  await send.click();
  await focusIs('body');
  expect(posts).toHaveLength(1);
  await expectInView(page.locator('form :is([role=status], [role=alert]):not(:empty)'));
});

it('takes a topic as the subject, and says what becomes of the inquiry', async () => {
  const { page, click, subject, holds, see, seeIn, focusIs, ...phone } = await begin({
    ...PHONE,
    config: {
      topics: ['Billing'],
      expectation: 'We answer within two working days.',
      answersFrom: 'team@shop.example',
    },
  });
  const pressed = page.locator('[aria-pressed=true]');
  await click('Billing');
  await page.reload();
  await holds('Billing');
  await pressed.waitFor();
  await subject.fill('my text');
  await pressed.waitFor({ state: 'detached' });
  await phone.submit('Where is my parcel?', 'line\n'.repeat(40));
  await expectInView(page.locator('.sent'));
  await see('We answer within two working days.', /come from .team@shop\.example. to .ana-/);
  // The focus alone announces it.
  await focusIs('We’ve received your inquiry');
  expect(await page.locator('form > .live:not(:empty)').count()).toBe(0);
  await click('Copy reference');
  await seeIn('form > [role=status]', 'Copied');
  const reference = await page.evaluate<string>('navigator.clipboard.readText()');
  await seeIn('.sent', reference);
  await click('Where is my parcel?');
  await seeIn('.item', reference);
});

describe('with one key per draft', unless(whyNoDynamoDbLocal), () => {
  it('stores one inquiry when two tabs send the same draft', async () => {
    const { context, stored, posts, ...one } = await begin();
    await one.write('one draft', 'in two tabs');
    const tabs = [one, await openTab(one.page)];
    const release = await hold(context, 'POST');
    for (const { send } of tabs) await send.click();
    await expect.poll(() => posts).toHaveLength(2);
    release();
    for (const { see, lists } of tabs) {
      await see('received your inquiry');
      await lists('one draft');
    }
    await stored('one draft');
  });

  it('is ready to send, or finishes sending, after a sign-in or a reload', async () => {
    const visit = await signIn();
    const { page, click, write, send, see, holds, focusIs, lists, stored } = visit;
    await write('kept', 'all of it');
    // The token has expired, and after a reload there is no refresh token.
    const idToken = await createToken({ email: visit.email, claims: { exp: 1 } });
    await changeSession(page, { idToken });
    await send.click();
    await see('Your session has ended');
    await click('Sign in again');
    await see('Ready to send');
    await holds('kept', 'all of it');
    await focusIs('Send inquiry');
    await page.keyboard.press('Enter');
    await lists('kept');
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    let attempts = 0;
    await intercept(page, 'POST', async (route) => {
      if (attempts++ > 0) return route.continue();
      await route.fetch();
      reach();
      // It gets no answer. Without a route the browser would continue the request.
    });
    await visit.submit('interrupted');
    await reached;
    await page.reload();
    await see('received your inquiry');
    await lists('interrupted', 'kept');
    await click('Write another');
    await holds('');
    await stored('interrupted', 'kept');
  });

  it('asks before it sends another version of what was sent', async () => {
    const visit = await begin();
    const { write, page, click, send, see, lists, stored } = visit;
    // The service gets the inquiry, but its answers are lost.
    await intercept(page, 'POST', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await visit.submit('first version');
    await see('We can’t tell yet');
    await page.unrouteAll();
    await write('second version', 'longer');
    await page.reload();
    await lists('first version');
    expect(visit.posts).toHaveLength(2);
    visit.requests.length = 0;
    await send.click();
    await visit.seeIn('dialog', 'An earlier version of this inquiry');
    await expect.poll(() => visit.requested('limit=')).toHaveLength(1);
    await click('Keep editing');
    await visit.focusIs('body');
    await stored('first version');
    await send.click();
    await click('Send this version too');
    await see('received your inquiry');
    await lists('second version', 'first version');
    await stored('second version', 'first version');
  });
});
