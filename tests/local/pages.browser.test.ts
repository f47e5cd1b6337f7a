import { it } from 'vitest';
import { checkPage } from '../form/chromium.ts';
import { arrive, stack } from '../form/contact-form.ts';

it('of issuer and docs have no finding of axe and HTML_CodeSniffer, and fit a phone', async () => {
  const { page, click } = await arrive();
  await click('Sign in');
  await page.getByRole('textbox').waitFor();
  await checkPage(page, 360);
  const unregistered =
    'http://localhost:5173/a-long-path-without-a-space-that-is-wider-than-a-phone';
  const { url, clientId } = stack.issuer;
  for (const address of [
    url,
    `${url}/oauth2/authorize?client_id=${clientId}&redirect_uri=${unregistered}`,
    stack.docsUrl,
  ]) {
    await page.goto(address);
    await checkPage(page, 360);
  }
});

it('of an address without a page has the dress of the form, and leads to it', async () => {
  const { page, button } = await arrive({ path: '/no/page' });
  await checkPage(page, 360);
  await page.getByRole('link', { name: 'Contact us' }).click();
  await button('Sign in').waitFor();
});
