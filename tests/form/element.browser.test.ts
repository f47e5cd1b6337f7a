import { expect, it } from 'vitest';
import { checkPage, expectAccessible } from './chromium.ts';
import { anyone, createToken, openPage, post, stack } from './contact-form.ts';

/** A page's rules for all that it has. */
const HOSTILE = `html { font-size: 5px }
  * { cursor: help; letter-spacing: 4px; text-transform: uppercase; white-space: pre; line-height: 5 }
  body { font: italic 700 9px/3 serif; color: #ccc; text-align: right; text-indent: 40px }
  .view, form, p, div, h1, button, input, textarea, #subject { margin: 50px !important; background: red !important }`;

/** Serves a page with an element at an origin that may call the API. `nonce`: of its script, after `before`. */
const embed = async ({
  policy = '',
  style = '',
  body = '<inquiry-form></inquiry-form>',
  nonce = '',
  before = '',
  email = anyone(),
} = {}) => {
  const visit = await openPage({ locale: 'en-GB' });
  const { page } = visit;
  const token = await createToken({ email });
  const shop = {
    contentType: 'text/html',
    headers: { 'content-security-policy': policy },
    body: `<!doctype html><html lang="en"><head><title>Shop</title><style nonce="page">${style}</style></head>
      <body><main><h1>Shop</h1>${body}</main><script nonce="page">
      const element = document.querySelector('inquiry-form');
      const events = [];
      const token = '${token}';
      let answer = () => token;
      element.apiUrl = '${stack.url}/inquiries';
      element.getToken = async (refused) => answer(refused);
      for (const name of ['sent', 'failed', 'signin-required'])
        element.addEventListener(name, ({ detail }) => events.push([name, detail]));
      ${before}</script><script nonce="${nonce}" type="module" src="${stack.formUrl}/inquiry-form.js"></script></body></html>`,
  };
  await page.route(`${stack.demoUrl}/shop`, async (route) => route.fulfill(shop));
  await page.goto(`${stack.demoUrl}/shop`);
  const run = async <Value>(code: string): Promise<Value> => page.evaluate(code);
  return {
    ...visit,
    token,
    run,
    styleOf: async (selector: string, property: string) =>
      run(`getComputedStyle(element.shadowRoot.querySelector('${selector}')).${property}`),
    dispatched: async (...events: unknown[]) =>
      await expect.poll(() => run('events')).toEqual(events),
  };
};

it('signs in, sends and lists on the demo’s page', async () => {
  const { page, click, enterEmail, write, deliver, lists, see } = await openPage({
    locale: 'en-GB',
  });
  await page.goto(stack.demoUrl);
  const signIn = page.locator('inquiry-form').getByRole('button', { name: 'Sign in' });
  await signIn.waitFor();
  await checkPage(page, 280);
  await signIn.click();
  await enterEmail(anyone());
  await click('Brewing');
  await write('A moka pot', 'Which of your beans are for a moka pot?');
  await checkPage(page, 280);
  await deliver();
  await see('We answer within two working days.');
  await lists('A moka pot');
  await see(/^sent: [\w-]{36}$/);
  await checkPage(page, 280);
  await click('Sign out');
  await signIn.waitFor();
});

it.each(['', 'page'])('works in a dialog under a strict policy, with nonce “%s”', async (nonce) => {
  const scripts = nonce === '' ? stack.formUrl : "'strict-dynamic'";
  const email = anyone();
  await post(email, 'long', 'line\n'.repeat(20));
  const { page, styleOf, see, run } = await embed({
    policy:
      `default-src 'none'; script-src 'nonce-page' ${scripts}; style-src 'nonce-page'; connect-src ${stack.url}; ` +
      "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    nonce,
    style: 'dialog { width: 40rem }',
    body: '<dialog><inquiry-form accent="#a01050" list></inquiry-form></dialog>',
    email,
  });
  await page.locator('.item').waitFor({ state: 'attached' });
  await run("document.querySelector('dialog').showModal()");
  await see('Show all');
  expect(await styleOf('[type=submit]', 'backgroundColor')).toBe('rgb(160, 16, 80)');
});

it('changes nothing outside of itself but the draft of its user', async () => {
  const { page, write, subject, run } = await embed({
    body: `<inquiry-form api-url="${stack.url}/inquiries"></inquiry-form>`,
    before: `const signals = [];
      const add = globalThis.addEventListener;
      globalThis.addEventListener = (type, listener, options) => {
        signals.push(options?.signal); add(type, listener, options); };
      const state = () => ({
        globals: Object.keys(globalThis).sort(), page: document.documentElement.outerHTML, url: location.href,
        history: history.length, sheets: document.adoptedStyleSheets.length });
      let initial;
      // The page is complete, and modules have not run.
      document.addEventListener('readystatechange', () => (initial ??= state()));`,
  });
  await subject.waitFor();
  await run(`import('${stack.formUrl}/inquiry-form.js?again')`);
  await write('kept');
  expect(await run('state()')).toEqual(await run('initial'));
  const key = [expect.stringMatching(/^inquiries\.draft\.[\w-]{36}$/)];
  const keys = '[localStorage, sessionStorage].map((store) => Object.keys(store))';
  expect(await run(keys)).toEqual([key, key]);
  const ended = async (expected: boolean) =>
    await expect
      .poll(() => run('[...new Set(signals.map((signal) => signal?.aborted))]'))
      .toEqual([expected]);
  await ended(false);
  await run('element.remove()');
  await ended(true);
  expect(await page.getByRole('textbox').count()).toBe(0);
});

it('looks the same on every page but for the font', async () => {
  const looks = async (style: string) => {
    const { subject, styleOf, run } = await embed({
      style: `${style} inquiry-form { width: 20em; font-family: sans-serif }`,
    });
    await subject.waitFor();
    expect(await styleOf('#body', 'fontSize')).toBe('16px');
    return run<string[][]>(`[...element.shadowRoot.querySelectorAll('form, form *')].map((part) => {
      const style = getComputedStyle(part);
      return [...style].filter((name) => !/^(font-family|--.*)$/.test(name)).map((name) => name + style.getPropertyValue(name)); })`);
  };
  const expected = await looks('html { font-size: 16px }');
  const found = await looks(HOSTILE);
  expect(expected.length).toBeGreaterThan(15);
  expected.forEach((style, index) => expect(found[index]).toEqual(style));
});

it('takes the colour scheme of the page, and the width of its place', async () => {
  const email = anyone();
  await post(email, 'before');
  const { page, run, see, styleOf } = await embed({
    style: `.dark { color-scheme: dark } .dark, .plain { background: #111; color: #eee } .narrow { width: 280px }
      main { margin: 0 } body { margin: 0 }`,
    body: '<inquiry-form list></inquiry-form>',
    email,
  });
  await see('before');
  // A dark page without a color-scheme has light cards, and its own colour around them.
  for (const [scheme, card] of [
    ['', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(28, 31, 41)'],
    ['plain', 'rgb(255, 255, 255)'],
  ] as const) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await run(`document.body.className = '${scheme}'`);
    expect(await styleOf('form', 'backgroundColor')).toBe(card);
    await expectAccessible(page);
  }
  expect(await styleOf('.columns', 'gridTemplateColumns')).toMatch(/^\S+ \S+$/);
  await run("element.className = 'narrow'");
  expect(await styleOf('.columns', 'gridTemplateColumns')).toMatch(/^\S+$/);
});

it('takes the focus when asked for it, and keeps keys in its fields from shortcuts of the page', async () => {
  const { page, subject, holds, run } = await embed({
    before: `const keys = [];
      for (const type of ['keydown', 'keypress', 'keyup']) document.addEventListener(type, (event) => {
        keys.push(event.key); if (event.key.length === 1) event.preventDefault(); });
      // The form is still being loaded.
      customElements.whenDefined('inquiry-form').then(() => element.focus());`,
  });
  await subject.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('s?/');
  await holds('s?/');
  expect(await run('keys')).toEqual([]);
  await page.keyboard.press('Tab');
  await run('element.focus()');
  await subject.and(page.locator(':focus')).waitFor();
  // A page's focus trap needs it.
  expect(await run('keys')).toContain('Tab');
});

it('keeps text, focus and caret when its settings change', async () => {
  const { page, message, run } = await embed({ before: 'let calls = 0' });
  const reads = async () => await expect.poll(() => message.inputValue()).toBe('one zwei three');
  await message.fill('one two three');
  await message.evaluate((field) => Object.assign(field, { mark: 1 }).setSelectionRange(4, 7));
  await run(`element.apiUrl += ''; element.language = ''; element.branding = {}; element.refresh();
    element.getToken = async () => { calls++; return token; }; element.accent = '#aa0000';
    document.body.prepend(element)`);
  await expect.poll(() => run('calls')).toBe(1);
  expect(await message.evaluate(({ mark }) => mark)).toBe(1);
  await message.focus();
  await run("element.language = 'de'");
  await page.getByRole('button', { name: 'Anfrage senden' }).waitFor();
  await page.keyboard.type('zwei');
  await reads();
  await run('element.remove()');
  await message.waitFor({ state: 'detached' });
  await run('document.body.append(element)');
  await reads();
});

it('works in a browser that refuses storage, channels and the clipboard', async () => {
  const { deliver, lists, click, see } = await embed({
    body: '<inquiry-form list></inquiry-form>',
    before: `const refuse = () => { throw new DOMException('The operation is insecure.', 'SecurityError'); };
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, { get: refuse });
      globalThis.BroadcastChannel = function () { refuse(); };
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      Crypto.prototype.randomUUID = undefined;
      globalThis.Highlight = undefined;`,
  });
  await deliver('refused');
  await lists('refused');
  await click('Copy reference');
  await see('Couldn’t copy');
});

it('names wrong settings, and ignores most of them', async () => {
  const { page, see, run, button, complaints } = await embed({
    // Frameworks write them so before the script has loaded.
    body: `<inquiry-form accent="red" language="nl" list="false" gettoken="() => 1" branding="[object Object]"
      apiurl="https://a"></inquiry-form>`,
    before: `element.apiUrl = '';
      element.branding = { topics: ['Order'], introduction: 5, colour: '#ffffff' };`,
  });
  const cannotStart = page.getByRole('heading', { name: 'The contact form cannot start' });
  await cannotStart.waitFor();
  await see('“api-url” of <inquiry-form> must be a text that is not empty.');
  const named = complaints.splice(0).map((text) => /^<inquiry-form>: “(.+?)”/.exec(text)?.[1]);
  const misplaced = ['gettoken', 'branding', 'apiurl'];
  const settings = ['accent', 'language', ...misplaced, 'introduction', 'branding', 'api-url'];
  expect(new Set(named)).toEqual(new Set(settings));
  await run(`element.getToken = null; element.apiUrl = '${stack.url}'`);
  await see('Please sign in');
  await expect
    .poll(() => complaints.splice(0).join(''))
    .toContain('“getToken” of <inquiry-form> is missing. Set the property');
  await run('element.getToken = () => token; 0');
  await button('Order').waitFor();
  expect(await page.locator('.list').count()).toBe(0);
  await run(`element.getToken = () => 'e30.' + btoa('{"sub":"1"}').replaceAll('=', '') + '.e30'`);
  await cannotStart.waitFor();
  await see('The token lacks the claims “sub” and “email”');
  complaints.length = 0;
});

it('asks the page for a token, and is ready to send when the same user has signed in again', async () => {
  const { click, write, send, see, run, token, posts, dispatched, complaints } = await embed({
    before: `element.branding = { privacy: 'https://shop.example/privacy' };
      answer = () => { answer = () => null; throw new Error('the shop is down'); };`,
  });
  const signedIn = 'answer = () => token; element.refresh()';
  await see('The sign-in service isn’t responding');
  expect(complaints.splice(0)).toEqual([expect.stringContaining('the shop is down')]);
  await click('Try again');
  await see('Please sign in', 'How we handle your data');
  await dispatched();
  await click('Sign in');
  const required = ['signin-required', null];
  await dispatched(required);
  await run(signedIn);
  const [one, other] = ['AAAAAAAAA', 'BBBBBBBBB'].map((end) => token.replace(/.{9}$/, end));
  await write('same', 'user');
  await see('How we handle your data');
  for (const [answer, requests] of [
    ['undefined', 0],
    // One user's text is not sent as another's.
    [`'${await createToken({ email: anyone() })}'`, 0],
    // A refused token is not sent again.
    [`'${one}'`, 1],
    [`refused === undefined ? '${one}' : '${other}'`, 2],
  ] as const) {
    posts.length = 0;
    await run(`answer = (refused) => ${answer}; 0`);
    await send.click();
    await see('Nothing was sent');
    expect(posts).toHaveLength(requests);
    if (requests === 2) await click('Sign in again');
    await run(signedIn);
    await see('Ready to send');
  }
  await send.click();
  const failed = ['failed', { kind: 'signed-out', mayBeDone: false }];
  const sent = ['sent', expect.objectContaining({ subject: 'same' })];
  await dispatched(required, failed, failed, failed, failed, required, sent);
});
