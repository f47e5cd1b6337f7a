/** The contact form, as a page and as an element, in Firefox. */
import { expect, inject, it } from 'vitest';
import { signToken } from '../../lib/issuer-tokens.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { needsFirefox, openFirefox } from '../helpers/firefox.ts';

const stack = inject('stack');

it(
  'signs in, asks for a message, sends once through a lost answer, and lists',
  needsFirefox,
  async ({ skip }) => {
    skip(whyNoDynamoDbLocal !== undefined, whyNoDynamoDbLocal);
    const { page, part, see, click, textsOf, intercept } = await openFirefox();
    await page.goto(stack.formUrl);
    await click('Sign in');
    await part('input:not([type=hidden])').fill(`firefox-${process.pid}@example.com`);
    await click('Sign in');
    await part('#subject').fill('lost and found');
    await page.keyboard.press('Enter');
    await see('Please write a message.');
    await part('#body').fill('one\n\ntwo');
    const keys: unknown[] = [];
    await intercept(stack.url, 'POST', async (request) => {
      keys.push(request.headers()['idempotency-key']);
      if (keys.length > 1) return request.continue();
      await fetch(request.url(), {
        method: 'POST',
        headers: request.headers(),
        body: (await request.fetchPostData()) ?? '',
      });
      return request.abort();
    });
    await click('Send inquiry');
    await see('received your inquiry');
    await expect.poll(() => textsOf('.item h4')).toEqual(['lost and found']);
    expect(keys).toEqual([keys[0], keys[0]]);
    await page.reload();
    await expect.poll(() => textsOf('.item h4')).toEqual(['lost and found']);
  },
);

it.each([
  ['allowed', 0],
  ['blocked', 2],
])('sends from an element with cookies %s', needsFirefox, async (_, behaviour) => {
  const { page, part, see, click, textsOf, intercept } = await openFirefox({
    'network.cookie.cookieBehavior': behaviour,
  });
  const token = await signToken(stack.key, stack.issuer.url, {
    email: `element-${behaviour}-${process.pid}@example.com`,
  });
  const shop = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
    <inquiry-form api-url="${stack.url}/inquiries" list></inquiry-form>
    <script>document.querySelector('inquiry-form').getToken = () => '${token}';
      document.addEventListener('keydown', (event) => event.preventDefault());</script>
    <script type="module" src="${stack.formUrl}/inquiry-form.js"></script>`;
  await intercept(`${stack.demoUrl}/shop`, 'GET', async (request) =>
    request.respond({ contentType: 'text/html', body: shop }),
  );
  await page.goto(`${stack.demoUrl}/shop`);
  await part('#body').wait();
  await page.evaluate(`document.querySelector('inquiry-form').focus()`);
  await page.keyboard.type('s?/');
  await part('#body').fill('from a shop');
  await click('Send inquiry');
  await see('received your inquiry');
  await expect.poll(() => textsOf('.item h4')).toEqual(['s?/']);
});

it('says on the page that it needs storage, where cookies are blocked', needsFirefox, async () => {
  const { page, see } = await openFirefox({ 'network.cookie.cookieBehavior': 2 });
  await page.goto(stack.formUrl);
  await see('The contact form cannot start');
});
