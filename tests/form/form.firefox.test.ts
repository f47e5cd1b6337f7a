/** The contact form, as a page and as an element, in Firefox. */
import { expect, inject, it } from 'vitest';
import { signToken } from '../../lib/issuer/issuer-tokens.ts';
import { needsFirefox, openFirefox } from './firefox.ts';

const stack = inject('stack');

it('signs in, asks for a message, sends, and lists', needsFirefox, async () => {
  const { page, part, see, click, textsOf } = await openFirefox();
  await page.goto(stack.formUrl);
  await click('Sign in');
  await part('input:not([type=hidden])').fill(`firefox-${process.pid}@example.com`);
  await click('Sign in');
  await part('#subject').fill('a subject');
  await page.keyboard.press('Enter');
  await see('Please write a message.');
  await part('#body').fill('one\n\ntwo');
  await click('Send inquiry');
  await see('received your inquiry');
  await page.reload();
  await expect.poll(() => textsOf('.item h4')).toEqual(['a subject']);
});

it(
  'sends from an element with cookies blocked, where the page says that it needs storage',
  needsFirefox,
  async () => {
    const { page, part, see, click, textsOf, intercept } = await openFirefox({
      'network.cookie.cookieBehavior': 2,
    });
    const email = `element-${process.pid}@example.com`;
    const token = await signToken(stack.key, stack.issuer.url, { email });
    const shop = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
    <inquiry-form api-url="${stack.url}/inquiries" list></inquiry-form>
    <script>document.querySelector('inquiry-form').getToken = () => '${token}';</script>
    <script type="module" src="${stack.formUrl}/inquiry-form.js"></script>`;
    await intercept(`${stack.demoUrl}/shop`, async (request) =>
      request.respond({ contentType: 'text/html', body: shop }),
    );
    await page.goto(`${stack.demoUrl}/shop`);
    await part('#subject').fill('from a shop');
    await part('#body').fill('in Firefox');
    await click('Send inquiry');
    await see('received your inquiry');
    await expect.poll(() => textsOf('.item h4')).toEqual(['from a shop']);
    await page.goto(stack.formUrl);
    await see('The contact form cannot start');
  },
);
