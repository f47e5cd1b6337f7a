/** The contact form in a real browser, on the whole local stack. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteItemCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { BrowserContext, Locator, Page, Route } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dynamoDbLocalUnavailableReason } from '../../scripts/local/dynamodb.ts';
import { close, listen } from '../../scripts/local/server.ts';
import { startStack } from '../../scripts/local/stack.ts';
import type { Stack } from '../../scripts/local/stack.ts';
import { anyone, on, setUp, whyNoBrowser } from './chromium.ts';

const HOSTILE = [
  ['<script>document.title = "hacked"</script>', '<img src=x onerror="document.title = \'hacked\'">'],
  ['\u202Egnp.exe \u2066\u2067', '\u202E right to left \u202E\n\u0000\u0007 control'],
  ['👩‍👩‍👧‍👦🏳️‍🌈', `${'Z̷̧̢̛̗̰̺̈́͛̾͝'.repeat(40)} ${'👍🏽'.repeat(500)}`],
  ['', 'w'.repeat(300 * 1024)],
] as const;

/** dynalite has no transactions, which keys need. */
const whyNoKeys = dynamoDbLocalUnavailableReason();
if (whyNoKeys !== undefined && whyNoBrowser === undefined) {
  process.stdout.write(`\nSKIPPED: keys in the browser, because ${whyNoKeys}.\n`);
}

describe.skipIf(whyNoBrowser !== undefined)('the contact form', () => {
  const here = setUp(whyNoKeys === undefined ? 'dynamodb-local' : 'dynalite');

  const begin = async (email = anyone()) => {
    const visit = await here.open();
    await visit.page.goto(here.formUrl);
    await on(visit.page).signIn(email);
    return { ...visit, ...on(visit.page), email };
  };

  /** Puts a long text into a field; to type it in takes the browser many seconds. */
  const paste = async (field: Locator, text: string) => {
    await field.evaluate(
      (element, value) =>
        Object.assign(element, { value }).dispatchEvent(new Event('input', { bubbles: true })),
      text,
    );
  };

  /** The subjects that the service has stored for a user. */
  const stored = async (email: string): Promise<string[]> => {
    const response = await fetch(`${here.stack.url}/inquiries`, {
      headers: { authorization: await here.stack.issuer.token({ email }) },
    });
    const { inquiries } = (await response.json()) as { inquiries: { subject: string }[] };
    return inquiries.map(({ subject }) => subject);
  };

  const post = async (email: string, subject: string, body = ''): Promise<void> => {
    await fetch(`${here.stack.url}/inquiries`, {
      method: 'POST',
      headers: {
        authorization: await here.stack.issuer.token({ email }),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ subject, body }),
    });
  };

  /** Another tab of the same user: the issuer knows the user, and asks nothing. */
  const openTab = async (context: BrowserContext): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(here.formUrl);
    await on(page).button('Sign in').click();
    await on(page).subject.waitFor();
    return page;
  };

  /** Replaces the token of a tab. */
  const expire = async (page: Page, idToken: string) =>
    page.evaluate(
      `sessionStorage.setItem('inquiries.session', JSON.stringify({
        ...JSON.parse(sessionStorage.getItem('inquiries.session')), idToken: ${JSON.stringify(idToken)} }))`,
    );

  /** Empties the table of a stack. */
  const removeAll = async ({ engine, tableName }: Stack): Promise<void> => {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = new DynamoDBClient({ endpoint: engine.url, region: 'local', credentials });
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    for (const { pk, sk } of Items) {
      if (pk === undefined || sk === undefined) throw new Error('the keys of the table have other names');
      await client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk, sk } }));
    }
    client.destroy();
  };

  /** Lays hands on the requests to the API by method; a preflight goes through. */
  const intercept = async (page: Page, method: string, handler: (route: Route) => Promise<void>) =>
    page.route(`${here.stack.url}/**`, async (route) =>
      route.request().method() === method ? handler(route) : route.continue(),
    );
  const answer = (status: number, message: string) => async (route: Route) =>
    route.fulfill({
      status,
      headers: { 'access-control-allow-origin': here.formUrl },
      json: { error: 'TEST', message },
    });

  it('signs in, sends, shows the inquiry on top, and still does after a reload', async () => {
    const { page, send, status, subjects, write, subject, complaints, email } = await begin();
    await page.getByText('Nothing here yet').waitFor();
    for (const text of ['first', 'second']) {
      await write(text, 'one\n\ntwo');
      await send.click();
      await expect.poll(() => subjects.first().textContent()).toBe(text);
    }
    expect(await status.textContent()).toContain('has been sent');
    expect(await subject.inputValue()).toBe('');
    expect(await subjects.allTextContents()).toEqual(['second', 'first']);
    expect(await page.getByRole('listitem').first().locator('.text').innerText()).toBe('one\n\ntwo');
    await page.reload();
    await expect.poll(() => subjects.allTextContents()).toEqual(['second', 'first']);
    expect(await stored(email)).toEqual(['second', 'first']);
    expect(complaints).toEqual([]);
  });

  it('shows a second user nothing of the first, neither list nor draft', async () => {
    const { page, button, write, send, subjects, subject } = await begin();
    await write('mine', 'secret');
    await send.click();
    await expect.poll(() => subjects.count()).toBe(1);
    await write('my draft', '');
    await button('Sign out').click();
    await button('Keep it and sign out').click();
    await page.getByText('You are signed out').waitFor();
    await on(page).signIn(anyone());
    await page.getByText('Nothing here yet').waitFor();
    expect(await subject.inputValue()).toBe('');
    expect(await page.content()).not.toContain('secret');
  });

  it('keeps a draft over reload, sign-out and a new tab, until it is sent', async () => {
    const { page, context, button, write, subject, message, send, status, email } = await begin();
    await write('a draft', 'with\ntwo lines');
    await page.reload();
    expect(await subject.inputValue()).toBe('a draft');
    await button('Sign out').click();
    await button('Keep it and sign out').click();
    await on(page).signIn(email);
    expect(await message.inputValue()).toBe('with\ntwo lines');
    expect(await on(await openTab(context)).subject.inputValue()).toBe('a draft');
    await send.click();
    await status.getByText('has been sent').waitFor();
    await page.reload();
    await page.getByRole('listitem').first().waitFor();
    expect(await subject.inputValue()).toBe('');
  });

  it('deletes a draft at sign-out when asked to', async () => {
    const { page, button, write, subject, email } = await begin();
    await write('a draft', '');
    await button('Sign out').click();
    await button('Delete it and sign out').click();
    await on(page).signIn(email);
    expect(await subject.inputValue()).toBe('');
  });

  it('keeps two tabs apart: each has its own text after a reload', async () => {
    const { page, context, write, subject } = await begin();
    const other = await openTab(context);
    await write('of the first tab', '');
    await on(other).write('of the second tab', '');
    await page.reload();
    await other.reload();
    expect(await subject.inputValue()).toBe('of the first tab');
    expect(await on(other).subject.inputValue()).toBe('of the second tab');
  });

  it('sends once on a double click, and on Ctrl+Enter while sending', async () => {
    const { page, write, send, message, subjects, email } = await begin();
    let posts = 0;
    await intercept(page, 'POST', async (route) => {
      posts++;
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await write('once', '');
    await send.dblclick();
    await message.press('Control+Enter');
    expect(await send.textContent()).toBe('Sending…');
    await expect.poll(() => subjects.count()).toBe(1);
    expect(posts).toBe(1);
    expect(await stored(email)).toEqual(['once']);
  });

  it('asks before it sends an empty inquiry', async () => {
    const { button, send, subjects, page, email } = await begin();
    await send.click();
    await button('Go back').click();
    expect(await stored(email)).toEqual([]);
    await send.click();
    await page.keyboard.press('Escape');
    await send.click();
    await button('Send it empty').click();
    await expect.poll(() => subjects.allTextContents()).toEqual(['No subject']);
  });

  it('works by keyboard alone, from sign-in to an unfolded text', async () => {
    const { page } = await here.open();
    const { keyboard } = page;
    const tabTo = async (name: string | RegExp) => {
      for (let presses = 0; presses < 20; presses++) {
        await keyboard.press('Tab');
        const focused = page.locator(':focus');
        const label = await focused.evaluate(
          (element) =>
            (element as unknown as { labels?: { textContent: string }[] }).labels?.[0]?.textContent ??
            element.textContent,
        );
        if (label?.match(name)) return;
      }
      throw new Error(`Tab does not lead to ${name}`);
    };
    await page.goto(here.formUrl);
    await on(page).button('Sign in').waitFor();
    await tabTo(/^Sign in$/);
    await keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
    await keyboard.type(anyone());
    await keyboard.press('Enter');
    await page.getByText('Nothing here yet').waitFor();
    await tabTo('Subject');
    await keyboard.type('by hand');
    await tabTo('Message');
    await keyboard.type('line\n'.repeat(30));
    await tabTo('Send inquiry');
    await keyboard.press('Enter');
    await page.getByText('has been sent').waitFor();
    // The focus is where it was.
    expect(await page.locator(':focus').textContent()).toBe('Send inquiry');
    await tabTo('Refresh');
    await tabTo('Show all');
    await keyboard.press('Enter');
    const toggle = page.locator(':focus');
    expect(await toggle.getAttribute('aria-expanded')).toBe('true');
    expect(await toggle.textContent()).toBe('Show less');
  });

  describe('when sending fails', () => {
    it('keeps the text while the gateway is stopped, and sends it when it is back', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'inquiries-browser-'));
      const probe = createServer();
      const port = await listen(probe, 0);
      await close(probe);
      const keysFile = join(folder, 'issuer-keys.json');
      const options = { port, folder, keysFile, engine: 'dynalite', log: () => undefined } as const;
      let stack = await startStack(options);
      onTestFinished(async () => {
        await stack.close();
        rmSync(folder, { recursive: true, force: true });
      });
      const { page } = await here.open();
      const { signIn, write, send, alert, subject, subjects } = on(page);
      await page.goto(stack.formUrl ?? '');
      await signIn(anyone());
      await page.getByText('Nothing here yet').waitFor();
      await stack.close();
      await write('patient', '');
      await send.click();
      await alert.getByText('The service does not answer').waitFor();
      await alert.getByText('We cannot tell yet').waitFor();
      expect(await subject.inputValue()).toBe('patient');
      stack = await startStack(options);
      // The reload finishes sending.
      await page.reload();
      await expect.poll(() => subjects.allTextContents()).toEqual(['patient']);
    });

    it('sends again at once after a 500, then says so and offers to try again', async () => {
      const { page, write, send, alert, subject, subjects, email } = await begin();
      let posts = 0;
      await intercept(page, 'POST', async (route) => {
        posts++;
        await answer(500, 'internal')(route);
      });
      await write('again', '');
      await send.click();
      await alert.getByText('Something went wrong on our side').waitFor();
      await alert.getByText('We cannot tell yet').waitFor();
      expect(posts).toBe(2);
      expect(await send.textContent()).toBe('Try again');
      expect(await subject.inputValue()).toBe('again');
      await page.unroute(`${here.stack.url}/**`);
      await send.click();
      await expect.poll(() => subjects.allTextContents()).toEqual(['again']);
      expect(await stored(email)).toEqual(['again']);
    });

    it('says when the next inquiry can be sent after as many as an hour may have, and keeps the text', async () => {
      const stack = await startStack({
        engine: 'dynalite',
        settings: { INQUIRIES_PER_HOUR: '1' },
        log: () => undefined,
      });
      onTestFinished(() => stack.close());
      const { page } = await here.open({ locale: 'en-GB' });
      const { signIn, write, send, alert, subject, subjects } = on(page);
      await page.goto(stack.formUrl ?? '');
      await signIn(anyone());
      await write('the first', '');
      await send.click();
      await expect.poll(() => subjects.allTextContents()).toEqual(['the first']);
      await write('the second', '');
      await send.click();
      await alert.getByText('You have reached the hourly limit').waitFor();
      const said = (await alert.textContent()) ?? '';
      expect(said).toMatch(/Your text is kept; you can send it (in 59 minutes, )?at \d\d:\d\d\.$/);
      expect(await subject.inputValue()).toBe('the second');
      // As if the hour had passed.
      await removeAll(stack);
      await send.click();
      await expect.poll(() => subjects.first().textContent()).toBe('the second');
    });

    it.each(['on start', 'on “Try again”'])(
      'sends no key of yesterday, which the service has forgotten: %s it says so, and then sends with another',
      async (moment) => {
        const { page, write, send, alert, status, subject, email } = await begin();
        const keys: (string | undefined)[] = [];
        await intercept(page, 'POST', async (route) => {
          keys.push(route.request().headers()['idempotency-key']);
          await (keys.length <= 2 ? route.abort('connectionreset') : route.continue());
        });
        await write('patient', '');
        await send.click();
        await alert.getByText('We cannot tell yet').waitFor();
        if (moment === 'on start') {
          await page.evaluate(`{
            const name = Object.keys(sessionStorage).find((key) => key.startsWith('inquiries.draft.'));
            const draft = JSON.parse(sessionStorage.getItem(name));
            draft.pending -= 24 * 3_600_000;
            sessionStorage.setItem(name, JSON.stringify(draft));
          }`);
          await page.reload();
        } else {
          await page.clock.setSystemTime(Date.now() + 24 * 3_600_000);
          await send.click();
        }
        await status.getByText('Please check your list').waitFor();
        expect(await subject.inputValue()).toBe('patient');
        expect(await send.textContent()).toBe('Send inquiry');
        expect(keys).toHaveLength(2);
        await send.click();
        await status.getByText('has been sent').waitFor();
        expect(new Set(keys.slice(0, 2)).size).toBe(1);
        expect(keys[2]).not.toBe(keys[0]);
        expect(await stored(email)).toEqual(['patient']);
      },
    );

    it('says that one is offline', async () => {
      const { context, write, send, alert, subject, email } = await begin();
      await write('later', '');
      await context.setOffline(true);
      await send.click();
      await alert.getByText('You are offline').waitFor();
      expect(await subject.inputValue()).toBe('later');
      await context.setOffline(false);
      await send.click();
      await expect.poll(() => stored(email)).toEqual(['later']);
    });

    it('says what the service says when it refuses', async () => {
      const { page, write, send, alert } = await begin();
      await intercept(page, 'POST', answer(400, 'The field `subject` is missing.'));
      await write('x', '');
      await send.click();
      await alert.getByText('The field `subject` is missing.').waitFor();
    });

    it('takes a 413 of the service, and refuses itself what cannot fit', async () => {
      const { send, alert, message, page, requests } = await begin();
      // Under the limit by itself, over it with the names and keys that are stored with it.
      await paste(message, 'x'.repeat(400 * 1024 - 10));
      await page.getByText('Almost full: 10 bytes left.').waitFor();
      await send.click();
      await alert.getByText('Your inquiry is too large').waitFor();
      const before = requests.length;
      await paste(message, 'é'.repeat(200 * 1024 + 1));
      await page.getByText('Too large by 2 bytes.').waitFor();
      await send.click();
      await alert.getByText('Your inquiry is too large').waitFor();
      expect(requests).toHaveLength(before);
      expect(await page.locator(':focus').getAttribute('id')).toBe('body');
    });
  });

  describe.skipIf(whyNoKeys !== undefined)('with one key per draft', () => {
    /** The service gets each inquiry, the page gets no answer. */
    const lose = async (route: Route): Promise<void> => {
      await route.fetch();
      await route.abort('connectionreset');
    };
    /** Sends an inquiry, all of whose answers are lost; those to later requests are not. */
    const sendUnanswered = async (
      { page, write, send, alert }: Awaited<ReturnType<typeof begin>>,
      text: string,
    ): Promise<void> => {
      await intercept(page, 'POST', lose);
      await write(text, '');
      await send.click();
      await alert.getByText('We cannot tell yet').waitFor();
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
        await on(tab).status.getByText('has been sent').waitFor();
        expect(await on(tab).subjects.allTextContents()).toEqual(['one draft']);
      }
      expect(await stored(email)).toEqual(['one draft']);
    });

    it('stores one inquiry when a tab sends what another tab has sent before', async () => {
      const { context, write, send, status, email } = await begin();
      await write('one draft', '');
      const other = await openTab(context);
      await send.click();
      await status.getByText('has been sent').waitFor();
      await on(other).send.click();
      await on(other).status.getByText('has been sent').waitFor();
      expect(await stored(email)).toEqual(['one draft']);
    });

    it('stores one inquiry when the answer is lost', async () => {
      const { page, write, send, status, subjects, email } = await begin();
      let posts = 0;
      await intercept(page, 'POST', async (route) => (++posts === 1 ? lose(route) : route.continue()));
      await write('arrived', '');
      await send.click();
      await status.getByText('has been sent').waitFor();
      expect(await subjects.allTextContents()).toEqual(['arrived']);
      expect(await stored(email)).toEqual(['arrived']);
      expect(posts).toBe(2);
    });

    it('stores one inquiry when every answer is lost until “Try again”', async () => {
      const form = await begin();
      const { send, status, subjects, email } = form;
      await sendUnanswered(form, 'arrived');
      expect(await stored(email)).toEqual(['arrived']);
      await send.click();
      await status.getByText('has been sent').waitFor();
      expect(await subjects.allTextContents()).toEqual(['arrived']);
      expect(await stored(email)).toEqual(['arrived']);
    });

    it.each([
      ['before', []],
      ['after', ['interrupted']],
    ])('finishes sending once after a reload %s the inquiry is stored', async (moment, before) => {
      const { page, write, send, status, subject, subjects, email } = await begin();
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      let isFirst = true;
      await intercept(page, 'POST', async (route) => {
        if (!isFirst) return route.continue();
        isFirst = false;
        if (moment === 'after') await route.fetch();
        reach();
        // No answer. The route stays: without one the browser would continue this request.
      });
      await write('interrupted', '');
      await send.click();
      await reached;
      expect(await stored(email)).toEqual(before);
      await page.reload();
      await status.getByText('has been sent').waitFor();
      expect(await subjects.allTextContents()).toEqual(['interrupted']);
      expect(await subject.inputValue()).toBe('');
      expect(await stored(email)).toEqual(['interrupted']);
    });

    it('finishes sending once after a sign-in when the outcome was unknown', async () => {
      const form = await begin();
      const { page, send, status, alert, email } = form;
      await sendUnanswered(form, 'arrived');
      await expire(page, await here.stack.issuer.token({ email, expiresIn: -60 }));
      await page.reload();
      await alert.getByText('Your session has ended').waitFor();
      await alert.getByText('We cannot tell yet').waitFor();
      await send.click();
      await status.getByText('has been sent').waitFor();
      expect(await stored(email)).toEqual(['arrived']);
    });

    it('asks before it sends another version of what was sent; nothing is lost by either answer', async () => {
      const form = await begin();
      const { page, button, write, send, status, message, subjects, email } = form;
      await sendUnanswered(form, 'first version');
      await write('second version', 'longer');
      await send.click();
      await page.getByRole('dialog').getByText('An earlier version of this inquiry was sent').waitFor();
      // The list behind the question has it.
      await expect.poll(() => subjects.allTextContents()).toEqual(['first version']);
      await button('Go on editing').click();
      expect(await page.locator(':focus').getAttribute('id')).toBe('body');
      expect(await message.inputValue()).toBe('longer');
      expect(await stored(email)).toEqual(['first version']);
      await page.reload();
      expect(await message.inputValue()).toBe('longer');
      await send.click();
      await button('Send this version as well').click();
      await status.getByText('has been sent').waitFor();
      expect(await subjects.allTextContents()).toEqual(['second version', 'first version']);
      expect(await stored(email)).toEqual(['second version', 'first version']);
    });

    it('sends nothing by itself after a reload when the text was edited after the attempt', async () => {
      const form = await begin();
      const { page, write, subject, subjects, email } = form;
      let posts = 0;
      page.on('request', (request) => (posts += Number(request.method() === 'POST')));
      await sendUnanswered(form, 'first version');
      await write('second version', '');
      await page.reload();
      // The list is asked for at the same time.
      await expect.poll(() => subjects.allTextContents()).toEqual(['first version']);
      expect(await subject.inputValue()).toBe('second version');
      expect(posts).toBe(2);
      expect(await stored(email)).toEqual(['first version']);
    });

    it('takes a text that is typed into the emptied form for another inquiry', async () => {
      const form = await begin();
      const { write, send, status, email } = form;
      await sendUnanswered(form, 'one');
      await write('', '');
      await write('another', '');
      await send.click();
      await status.getByText('has been sent').waitFor();
      expect(await stored(email)).toEqual(['another', 'one']);
    });
  });

  describe('the session', () => {
    it('ended while writing: the text is kept, and after the sign-in it is ready to send', async () => {
      const { page, write, send, alert, subject, subjects, email } = await begin();
      await write('kept', 'all of it');
      // An expired token and no refresh token, as after a reload; the gateway itself refuses it.
      await expire(page, await here.stack.issuer.token({ email, expiresIn: -60 }));
      await page.reload();
      await send.click();
      await alert.getByText('Your session has ended').waitFor();
      expect(await subject.inputValue()).toBe('kept');
      await send.and(page.getByText('Sign in again')).click();
      await page.getByText('Ready to send', { exact: true }).waitFor();
      expect(await subject.inputValue()).toBe('kept');
      expect(await page.locator(':focus').textContent()).toBe('Send inquiry');
      expect(page.url()).toBe(`${here.formUrl}/`);
      await page.keyboard.press('Enter');
      await expect.poll(() => subjects.allTextContents()).toEqual(['kept']);
      expect(await stored(email)).toEqual(['kept']);
    });

    it('is renewed unnoticed with the refresh token, once for requests at the same time', async () => {
      const visit = await here.open();
      const { page, requests } = visit;
      await page.clock.install();
      await page.goto(here.formUrl);
      const { signIn, write, subjects } = on(page);
      await signIn(anyone());
      const tokenRequests = () => requests.filter((url) => url.endsWith('/oauth2/token')).length;
      expect(tokenRequests()).toBe(1);
      for (const round of [1, 2]) {
        await page.clock.fastForward('02:00:00');
        await write(`round ${round}`, '');
        // Both in the same turn, as only a program can click.
        await page.evaluate(
          `for (const selector of ['[type=submit]', '.list-head button']) document.querySelector(selector).click()`,
        );
        await expect.poll(() => subjects.count()).toBe(round);
        expect(tokenRequests()).toBe(1 + round);
      }
    });

    it('ended at the issuer: the refresh is refused and one is asked to sign in', async () => {
      const { page, requests } = await here.open();
      await page.clock.install();
      await page.goto(here.formUrl);
      const { signIn, write, send, alert, subject } = on(page);
      await signIn(anyone());
      await write('still here', '');
      const { issuer, formUrl } = here.stack;
      await page.evaluate(
        `fetch('${issuer.url}/logout?client_id=${issuer.clientId}&logout_uri=${formUrl}/', { mode: 'no-cors', credentials: 'include' }).catch(() => 0)`,
      );
      await page.clock.fastForward('02:00:00');
      await send.click();
      await alert.getByText('Your session has ended').waitFor();
      expect(await subject.inputValue()).toBe('still here');
      expect(requests.some((url) => url.includes('/logout'))).toBe(true);
    });

    it('sends code challenge, state and nonce, and leaves no code in the address', async () => {
      const { page, requests } = await begin();
      const authorize = new URL(requests.find((url) => url.includes('/oauth2/authorize')) ?? '');
      const { searchParams } = authorize;
      expect(searchParams.get('code_challenge_method')).toBe('S256');
      for (const name of ['code_challenge', 'state', 'nonce']) expect(searchParams.get(name)).toBeTruthy();
      expect(page.url()).toBe(`${here.formUrl}/`);
      await page.goBack();
      await page.goForward();
      expect(page.url()).not.toContain('code=');
    });

    it('keeps the refresh token out of every storage', async () => {
      const { page } = await begin();
      const kept = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
      expect(kept).toContain('idToken');
      expect(kept).not.toContain('refresh');
    });

    it('ends in every tab at sign-out, at the issuer too', async () => {
      const { page, context, button } = await begin();
      const other = await openTab(context);
      await button('Sign out').click();
      await page.getByText('You are signed out').waitFor();
      await other.getByText('You are signed out').waitFor();
      await on(page).button('Sign in').click();
      await page.getByRole('textbox', { name: 'E-mail address' }).waitFor();
    });

    it('ends here even when the issuer does not answer, and says so', async () => {
      const { page, button } = await begin();
      await page.reload();
      await page.route(`${here.stack.issuer.url}/**`, async (route) => route.abort('connectionrefused'));
      await button('Sign out').click();
      await page.getByText('You are signed out here').waitFor();
      expect(await page.evaluate('sessionStorage.getItem("inquiries.session")')).toBeNull();
    });

    it('says when the sign-in was cancelled', async () => {
      const { page } = await here.open();
      await page.goto(here.formUrl);
      await on(page).button('Sign in').click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The sign-in was cancelled').waitFor();
    });

    it('does not take an answer of the issuer that it has not asked for', async () => {
      const { page } = await here.open();
      await page.goto(`${here.formUrl}/?code=stolen&state=unknown`);
      await page.getByText('The sign-in did not work').waitFor();
      expect(page.url()).toBe(`${here.formUrl}/`);
    });

    it('says when the issuer does not answer', async () => {
      const { page } = await here.open();
      await page.route(`${here.stack.issuer.url}/**`, async (route) => route.abort('connectionrefused'));
      await page.goto(here.formUrl);
      await on(page).button('Sign in').click();
      await page.getByText('The sign-in service does not answer').waitFor();
      await on(page).button('Sign in').waitFor();
    });
  });

  describe('the list', () => {
    it('shows twenty and then the older ones that the service’s Link leads to', async () => {
      const email = anyone();
      for (let number = 1; number <= 45; number++) await post(email, `number ${number}`);
      const { subjects, button, page } = await begin(email);
      await expect.poll(() => subjects.count()).toBe(20);
      expect(await subjects.first().textContent()).toBe('number 45');
      await button('Show more').click();
      await expect.poll(() => subjects.count()).toBe(40);
      expect(await page.locator(':focus').textContent()).toBe('number 25');
      await post(email, 'a new one');
      await button('Refresh').click();
      await expect.poll(() => subjects.count()).toBe(41);
      await button('Show more').click();
      await expect.poll(() => subjects.count()).toBe(46);
      expect(await button('Show more').count()).toBe(0);
      expect(new Set(await subjects.allTextContents()).size).toBe(46);
    });

    it('keeps an inquiry that was sent while a refresh was running', async () => {
      const { page, send, write, subjects, button } = await begin();
      await page.getByText('Nothing here yet').waitFor();
      const sent = Promise.withResolvers<void>();
      let held = 0;
      await intercept(page, 'GET', async (route) => {
        const response = await route.fetch();
        if (held++ === 0) await sent.promise;
        await route.fulfill({ response });
      });
      await button('Refresh').click();
      await expect.poll(() => held).toBe(1);
      await write('meanwhile', '');
      await send.click();
      await expect.poll(() => subjects.allTextContents()).toEqual(['meanwhile']);
      sent.resolve();
      await expect.poll(() => held).toBe(2);
      expect(await subjects.allTextContents()).toEqual(['meanwhile']);
    });

    it('writes times in the reader’s own zone, the exact one as a title', async () => {
      const email = anyone();
      await post(email, 'when');
      const { page } = await here.open({ timezoneId: 'Asia/Kathmandu', locale: 'en-GB' });
      await page.goto(here.formUrl);
      await on(page).signIn(email);
      const time = page.getByRole('listitem').locator('time');
      const machine = (await time.getAttribute('datetime')) ?? '';
      const local = new Date(machine).toLocaleTimeString('en-GB', {
        timeZone: 'Asia/Kathmandu',
        timeStyle: 'short',
      });
      expect(await time.textContent()).toContain(local);
      expect(await time.getAttribute('title')).toMatch(/\d\d:\d\d:\d\d GMT\+5:45/);
    });

    it('shows hostile text as text, and nothing of it breaks the layout at 320 px', async () => {
      const email = anyone();
      for (const [subject, body] of HOSTILE) await post(email, subject, body);
      const { page, complaints, requests } = await here.open({ viewport: { width: 320, height: 640 } });
      await page.goto(here.formUrl);
      const { signIn, subjects, items, button } = on(page);
      await signIn(email);
      await expect.poll(() => subjects.count()).toBe(HOSTILE.length);
      const shown = HOSTILE.toReversed().map(([subject]) => subject || 'No subject');
      expect(await subjects.allTextContents()).toEqual(shown);
      await items.first().scrollIntoViewIfNeeded();
      await button(/Show all \(300 KB\)/).click();
      expect((await items.first().locator('.text').textContent())?.length).toBe(300 * 1024);
      const wide = await page.evaluate(
        `[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 320).length`,
      );
      expect(wide).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      expect(await page.title()).toBe('Contact us');
      expect(complaints).toEqual([]);
      expect(requests.filter((url) => url.endsWith('/x'))).toEqual([]);
    });

    it('says when it cannot be loaded, and loads when asked again', async () => {
      const email = anyone();
      await post(email, 'there');
      const { page } = await here.open();
      await page.route(`${here.stack.url}/**`, async (route) => route.abort('connectionrefused'));
      await page.goto(here.formUrl);
      const { signIn, button, subjects } = on(page);
      await signIn(email);
      await page.getByText('Your inquiries could not be loaded').waitFor();
      await page.unroute(`${here.stack.url}/**`);
      await button('Try again').click();
      await expect.poll(() => subjects.allTextContents()).toEqual(['there']);
    });
  });

  describe('the page', () => {
    it('asks nobody but its own host, the issuer and the API, and runs no script but its own', async () => {
      const { page, requests, complaints } = await begin();
      const hosts = new Set(requests.map((url) => new URL(url).origin));
      expect([...hosts].toSorted()).toEqual([here.formUrl, here.stack.url, here.stack.issuer.url].toSorted());
      expect(complaints).toEqual([]);
      const markup = page.evaluate(`document.createElement('p').innerHTML = '<b>x</b>'`);
      await expect(markup).rejects.toThrow(/TrustedHTML/);
      const foreign = page.evaluate(`fetch('http://127.0.0.1:9/').catch((error) => error.message)`);
      expect(await foreign).toBe('Failed to fetch');
      expect(complaints.join('\n')).toContain('Content Security Policy');
    });

    it('holds its own policy on a host that sets no header, and finds the issuer from there', async () => {
      const host = createHttpServer((request, response) => {
        void fetch(here.formUrl + request.url).then(async (original) => {
          response.setHeader('content-type', original.headers.get('content-type') ?? '');
          return response.end(Buffer.from(await original.arrayBuffer()));
        });
      });
      const url = `http://127.0.0.1:${await listen(host, 0)}`;
      onTestFinished(() => close(host));
      const { page, complaints } = await here.open();
      await page.goto(url);
      await page
        .evaluate(
          `document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 1' }))`,
        )
        .catch(() => undefined);
      expect(await page.title()).toBe('Contact us');
      expect(complaints.join()).toMatch(/TrustedScript|Content Security Policy/);
      await on(page).button('Sign in').click();
      await page.waitForURL(`${here.stack.issuer.url}/**`);
    });

    it('moves nothing while it loads', async () => {
      const email = anyone();
      for (const number of [1, 2, 3]) await post(email, `number ${number}`, 'line\n'.repeat(30));
      const { page } = await here.open();
      await page.addInitScript(`
        globalThis.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
      `);
      await page.goto(here.formUrl);
      await on(page).signIn(email);
      await page.reload();
      await expect.poll(() => on(page).subjects.count()).toBe(3);
      await page.waitForTimeout(300);
      expect(await page.evaluate('shift')).toBeLessThan(0.01);
    });

    it('moves nothing about when motion is to be reduced', async () => {
      const { page } = await here.open({ reducedMotion: 'reduce' });
      await page.goto(here.formUrl);
      await on(page).signIn(anyone());
      await on(page).subject.fill('x');
      await intercept(page, 'POST', async () => undefined);
      await on(page).send.click();
      expect(await page.evaluate('document.getAnimations({ subtree: true }).length')).toBe(0);
    });

    it.each([
      ['is missing', { status: 404, body: 'Not Found' }, 'the site answered 404'],
      ['is the start page', { status: 200, body: '<!doctype html>' }, 'is missing or is not JSON'],
      ['lacks a key', { status: 200, body: '{"issuer":"https://issuer.example"}' }, '“clientId” is missing'],
    ])('says clearly that config.json %s', async (_, response, text) => {
      const { page } = await here.open();
      await page.route('**/config.json', async (route) => route.fulfill(response));
      await page.goto(here.formUrl);
      await page.getByRole('heading', { name: 'The contact form cannot start' }).waitFor();
      expect(await page.locator('main').textContent()).toContain(text);
    });
  });
});
