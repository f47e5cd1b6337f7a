import { it } from 'vitest';
import { checkPage } from '../form/chromium.ts';
import { arrive, stack } from '../form/contact-form.ts';

it('the pages of issuer and docs fit a phone, and axe and HTML_CodeSniffer find nothing', async () => {
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

it('the page of an unknown address looks like the form and leads to it', async () => {
  const { page, button } = await arrive({ path: '/no/page' });
  await checkPage(page, 360);
  await page.getByRole('link', { name: 'Contact us' }).click();
  await button('Sign in').waitFor();
});
