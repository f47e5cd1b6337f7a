/** The custom element in the pages of other sites. */
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  anyone,
  checkPage,
  enterEmail,
  expectAccessible,
  on,
  whyNoBrowser,
} from '../helpers/chromium.ts';
import { setUpForm } from '../helpers/contact-form.ts';

/** What the page of another site may do to everything in it, also to the element itself. */
const HOSTILE = `html { font-size: 5px }
  * { cursor: help; letter-spacing: 4px; text-transform: uppercase; white-space: pre; line-height: 5 }
  body { font: italic 700 9px/3 serif; color: #ccc; text-align: right; text-indent: 40px }
  .view, form, p, div, h1, button, input, textarea, #subject { margin: 50px !important; background: red !important }`;

const ELEMENT = "document.querySelector('inquiry-form')";
const FIELD = `${ELEMENT}.shadowRoot.querySelector('#body')`;
describe.skipIf(whyNoBrowser !== undefined)('<inquiry-form>', () => {
  const { here, post } = setUpForm();

  /**
   * Serves a page at an origin that may call the API. Its elements have a user. The code in these tests runs there.
   *
   * @param host - `script`: attributes of its script elements. `before` runs before the script of the element is loaded.
   */
  const embed = async (
    {
      policy = '',
      style = '',
      body = '<inquiry-form></inquiry-form>',
      script = '',
      before = '',
    } = {},
    options: BrowserContextOptions = {},
    email = anyone(),
  ) => {
    // Chromium does not know that the pages below come from this machine.
    const permissions = ['local-network-access'];
    const visit = await here.open({ locale: 'en-GB', permissions, ...options });
    const { page } = visit;
    const token = await here.stack.issuer.token({ email });
    const serve = async (path: string, contentType: string, content: string) =>
      page.route(here.stack.demoUrl + path, async (route) =>
        route.fulfill({
          contentType,
          headers: { 'content-security-policy': policy },
          body: content,
        }),
      );
    await serve(
      '/shop',
      'text/html',
      `<!doctype html><html lang="en"><head><title>Shop</title><link rel="stylesheet" href="/shop.css"></head>
      <body><main><h1>Shop</h1>${body}</main><script ${script} src="/shop.js"></script>
      <script ${script} type="module" src="${here.formUrl}/inquiry-form.js"></script></body></html>`,
    );
    await serve('/shop.css', 'text/css', style);
    await serve(
      '/shop.js',
      'text/javascript',
      `Object.assign(globalThis, { token: '${token}', calls: [], events: [] });
      for (const element of document.querySelectorAll('inquiry-form')) {
        element.apiUrl = '${here.stack.url}';
        element.getToken = async (refused) => { calls.push(refused); return token; };
        for (const name of ['sent', 'failed', 'signin-required'])
          element.addEventListener(name, ({ detail }) => events.push([name, detail]));
      }
      ${before}`,
    );
    await page.goto(`${here.stack.demoUrl}/shop`);
    const run = async <Value>(code: string): Promise<Value> => page.evaluate(code);
    return { ...visit, ...on(page), token, run };
  };

  it('on the demo’s page, signs in with the page’s own session, sends and lists', async () => {
    const { page, complaints } = await here.open({
      locale: 'en-GB',
      viewport: { width: 1200, height: 900 },
    });
    const { button, write, send, subjects } = on(page);
    await page.goto(here.stack.demoUrl);
    const signIn = page.locator('inquiry-form').getByRole('button', { name: 'Sign in' });
    await signIn.waitFor();
    await checkPage(page, 280);
    await signIn.click();
    await enterEmail(page, anyone());
    await button('Brewing').click();
    await write('A moka pot', 'Which of your beans are for a moka pot?');
    await checkPage(page, 280);
    await send.click();
    await page.getByText('We answer within two working days.', { exact: true }).waitFor();
    await expect.poll(() => subjects.allTextContents()).toEqual(['A moka pot']);
    await page.getByText(/^sent: [\w-]{36}$/).waitFor();
    await checkPage(page, 280);
    await button('Sign out').click();
    await signIn.waitFor();
    expect(complaints).toEqual([]);
  });

  const strict = (scripts: string, api: string) =>
    `default-src 'none'; script-src ${scripts}; style-src 'self'; connect-src ${api}; base-uri 'none'; ` +
    "require-trusted-types-for 'script'; trusted-types 'none'";
  it.each([
    ['of origins', "'self' FORM", ''],
    ['of a nonce and strict-dynamic', "'nonce-abc' 'strict-dynamic'", 'nonce="abc"'],
  ])(
    'works and has its colours under a policy %s, without any inline style',
    async (_name, scripts, script) => {
      const policy = strict(scripts.replace('FORM', here.formUrl), here.stack.url);
      const body = '<inquiry-form accent="#a01050" list></inquiry-form>';
      const { submit, page, run, complaints } = await embed({ policy, script, body });
      await submit('strict', 'policy');
      await page.getByRole('heading', { name: 'strict', exact: true }).waitFor();
      await expect
        .poll(() => run('events'))
        .toEqual([['sent', expect.objectContaining({ subject: 'strict' })]]);
      expect(
        await run(`{
          const canvas = new OffscreenCanvas(1, 1).getContext('2d');
          canvas.fillStyle = getComputedStyle(${ELEMENT}.shadowRoot.querySelector('[type=submit]')).backgroundColor;
          canvas.fillRect(0, 0, 1, 1);
          [...canvas.getImageData(0, 0, 1, 1).data];
        }`),
      ).toEqual([160, 16, 80, 255]);
      expect(complaints).toEqual([]);
    },
  );

  it('changes nothing outside of itself but the draft of its user, and leaves nothing when it is removed', async () => {
    const { page, write, subject, run, complaints } = await embed({
      body: `<inquiry-form api-url="${here.stack.url}"></inquiry-form>`,
      before: `globalThis.signals = [];
        const add = globalThis.addEventListener;
        globalThis.addEventListener = (type, listener, options) => {
          signals.push(options?.signal); add(type, listener, options); };
        globalThis.state = () => ({
          globals: Object.keys(globalThis).sort(), page: document.documentElement.outerHTML, url: location.href,
          title: document.title, history: history.length, sheets: document.adoptedStyleSheets.length });
        globalThis.initial = undefined;
        // When the page is complete, before modules run.
        document.addEventListener('readystatechange', () => (initial ??= state()));`,
    });
    await subject.waitFor();
    await run(`import('${here.formUrl}/inquiry-form.js?again')`);
    await write('kept');
    expect(await run('state()')).toEqual(await run('initial'));
    const keys = '[localStorage, sessionStorage].map((store) => Object.keys(store))';
    const key = expect.stringMatching(/^inquiries\.draft\.[\w-]{36}$/);
    expect(await run(keys)).toEqual([[key], [key]]);
    const active = '[...new Set(signals.map((signal) => signal?.aborted))]';
    expect(await run<unknown[]>(active)).toEqual([false]);
    await run(`${ELEMENT}.remove()`);
    await expect.poll(() => run<unknown[]>(active)).toEqual([true]);
    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('looks the same on every page but for the font; its text has the size that the reader has set', async () => {
    const looks = `[...${ELEMENT}.shadowRoot.querySelectorAll('form, form *')].map((element) => {
      const style = getComputedStyle(element);
      return [...style].filter((name) => !/^(font-family|--.*)$/.test(name)).map((name) => name + style.getPropertyValue(name)); })`;
    const font = 'inquiry-form { width: 20em; font-family: sans-serif }';
    const plain = await embed({ style: `html { font-size: 16px } ${font}` });
    await plain.subject.waitFor();
    const hostile = await embed({ style: `${HOSTILE} ${font}` });
    await hostile.subject.waitFor();
    const [expected, found] = [
      await plain.run<string[][]>(looks),
      await hostile.run<string[][]>(looks),
    ];
    expect(expected.length).toBeGreaterThan(15);
    expected.forEach((style, index) => expect(found[index]).toEqual(style));
    expect(await hostile.run(`getComputedStyle(${FIELD}).fontSize`)).toBe('16px');
  });

  it('takes the colour scheme of the page, not of the reader, and the width of its place', async () => {
    const style = `.dark { color-scheme: dark } .dark, .plain { background: #111; color: #eee } .narrow { width: 280px }
      main { margin: 0 } body { margin: 0 }`;
    const body = '<inquiry-form list></inquiry-form>';
    const email = anyone();
    await post(email, 'before');
    const { page, subject, send, run } = await embed(
      { style, body },
      { colorScheme: 'dark' },
      email,
    );
    await page.getByText('before').waitFor();
    const card = `getComputedStyle(${ELEMENT}.shadowRoot.querySelector('form')).backgroundColor`;
    expect(await run(card)).toBe('rgb(255, 255, 255)');
    await run("document.body.className = 'dark'");
    expect(await run(card)).toBe('rgb(28, 31, 41)');
    await expectAccessible(page);
    const columns = `getComputedStyle(${ELEMENT}.shadowRoot.querySelector('.columns')).gridTemplateColumns.split(' ')`;
    expect(await run(columns)).toHaveLength(2);
    await run(`${ELEMENT}.className = 'narrow'`);
    expect(await run(columns)).toHaveLength(1);
    const [field, button] = [await subject.boundingBox(), await send.boundingBox()];
    expect(button?.width).toBe(field?.width);
    // A dark page that does not say so: the cards are light, and what is outside of them is in the page's colour.
    await run("document.body.className = 'plain'");
    await expectAccessible(page);
    await run("document.body.className = ''");
    await expectAccessible(page);
  });

  it('keeps text, focus and caret when its settings change, and its elements when they stay the same', async () => {
    const { page, message, run, complaints } = await embed({
      // As in a frame without storage.
      before: "for (const name of ['localStorage', 'sessionStorage']) delete globalThis[name];",
    });
    await message.fill('one two three');
    await run(`${FIELD}.setSelectionRange(4, 7); ${FIELD}.mark = true; 0`);
    await run(`${ELEMENT}.apiUrl += ''; ${ELEMENT}.language = ''; ${ELEMENT}.branding = {}; ${ELEMENT}.refresh();
      ${ELEMENT}.getToken = async () => { calls.push('again'); return token; }; ${ELEMENT}.accent = '#aa0000'`);
    await run(`document.body.prepend(${ELEMENT})`);
    await expect.poll(() => run<string[]>('calls')).toContain('again');
    expect(await run(`${FIELD}.mark`)).toBe(true);
    await run(`${FIELD}.focus(); ${ELEMENT}.language = 'de'`);
    await page.getByRole('button', { name: 'Anfrage senden' }).waitFor();
    await page.keyboard.type('zwei');
    expect(await run(`${FIELD}.value`)).toBe('one zwei three');
    await run(`globalThis.removed = ${ELEMENT}; removed.remove()`);
    await run('document.body.append(removed)');
    await expect.poll(() => run(`${FIELD}?.value`)).toBe('one zwei three');
    expect(complaints).toEqual([]);
  });

  it.each([
    [
      'no address',
      "element.apiUrl = ''",
      '“api-url” of <inquiry-form> must be a text that is not empty.',
    ],
    [
      'an access token',
      "element.getToken = () => 'e30.' + btoa('{\"sub\":\"1\"}').replaceAll('=', '') + '.e30'",
      'The token lacks the claims “sub” and “email”',
    ],
  ])('names a wrong setting on the page and in the console: %s', async (_name, code, said) => {
    const { page, complaints } = await embed({ before: `{ const element = ${ELEMENT}; ${code} }` });
    await page.getByRole('heading', { name: 'The contact form cannot start' }).waitFor();
    await page.locator('inquiry-form').getByText(said).waitFor();
    expect(complaints).toEqual([expect.stringContaining(`<inquiry-form>: ${said}`)]);
  });

  it('ignores branding, accent and language that are wrong, and names each in the console', async () => {
    const { button, complaints } = await embed({
      body: '<inquiry-form accent="red" language="nl"></inquiry-form>',
      before: `${ELEMENT}.branding = { topics: ['Order'], introduction: 5, colour: '#ffffff' }`,
    });
    await button('Order').waitFor();
    expect(complaints.toSorted()).toEqual([
      expect.stringContaining('“accent” of <inquiry-form> must be a colour'),
      expect.stringContaining('“branding” of <inquiry-form> has no key “colour”'),
      expect.stringContaining('“introduction” of <inquiry-form> must be a text'),
      expect.stringContaining(
        '“language” of <inquiry-form> must be one of en, de, fr, es, ja, ar, not “nl”',
      ),
    ]);
  });

  it('offers another try when the token cannot be had, and a sign-in on request when nobody is signed in', async () => {
    const { page, button, subject, run, complaints } = await embed({
      before: `globalThis.token = null; ${ELEMENT}.getToken = async () => {
        if (calls.push('') === 1) throw new Error('the shop is down'); return token; }`,
    });
    await page.getByRole('heading', { name: 'The sign-in service doesn’t answer' }).waitFor();
    expect(complaints).toEqual([expect.stringContaining('the shop is down')]);
    await button('Try again').click();
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(await run('events')).toEqual([]);
    await button('Sign in').click();
    expect(await run('events')).toEqual([['signin-required', null]]);
    await run(`globalThis.token = '${await here.stack.issuer.token()}'; ${ELEMENT}.refresh()`);
    await subject.waitFor();
  });

  it('is ready to send what it has when the page has signed the same user in again', async () => {
    const { page, button, write, send, alert, run, token, posts, complaints } = await embed({
      before: `globalThis.answer = () => token; ${ELEMENT}.getToken = (refused) => answer(refused);`,
    });
    const [one, other] = ['AAAAAAAAA', 'BBBBBBBBB'].map((end) => token.replace(/.{9}$/, end));
    await write('same', 'user');
    for (const [answer, requests] of [
      ['undefined', 0],
      // The text of one user is not sent as another.
      [`'${await here.stack.issuer.token({ email: anyone() })}'`, 0],
      // What the API has refused is not sent again.
      [`'${one}'`, 1],
      [`refused === undefined ? '${one}' : '${other}'`, 2],
    ] as const) {
      posts.length = 0;
      await run(`globalThis.answer = (refused) => ${answer}; 0`);
      await send.click();
      await alert.getByText('Nothing was sent').waitFor();
      expect(posts).toHaveLength(requests);
      if (requests === 2) await button('Sign in again').click();
      await run(`globalThis.answer = () => token; ${ELEMENT}.refresh()`);
      await page.getByText('Ready to send').waitFor();
    }
    await send.click();
    const failed = ['failed', { kind: 'signed-out', mayBeDone: false }];
    const sent = ['sent', expect.objectContaining({ subject: 'same' })];
    await expect
      .poll(() => run('events'))
      .toEqual([failed, failed, failed, failed, ['signin-required', null], sent]);
    expect(complaints).toEqual([]);
  });

  it('can be loaded by any page with its languages, but the settings of the form cannot', async () => {
    const allowed = async (path: string) =>
      (await fetch(here.formUrl + path)).headers.get('access-control-allow-origin');
    expect([await allowed('/inquiry-form.js'), await allowed('/config.json')]).toEqual(['*', null]);
  });

  it('in a closed dialog is complete when the dialog opens', async () => {
    const body = '<dialog style="width: 40rem"><inquiry-form list></inquiry-form></dialog>';
    const email = anyone();
    await post(email, 'long', 'line\n'.repeat(20));
    const { button, run } = await embed({ body }, {}, email);
    await expect
      .poll(() => run<number>(`${ELEMENT}.shadowRoot.querySelectorAll('li').length`))
      .toBe(1);
    await run("document.querySelector('dialog').showModal()");
    await button('Show all').click();
    await button('Show less').waitFor();
  });
});
