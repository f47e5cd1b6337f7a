import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, preview } from 'vite';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { startStack } from '../../local/stack.ts';
import { on } from './chromium.ts';
import { openPage } from './contact-form.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { readText } from '../helpers/repository.ts';

/** Code blocks that begin with a file's name. */
const FILES = readText('docs/front-end.md').matchAll(
  /^```\w+\n(?:<!--|\/\/) (\S+\.\w+)(?: -->)?\n(.*?)^```/gms,
);

it('signs in, sends once through a lost answer, and lists, from its own origin', async ({
  skip,
}) => {
  skip(whyNoDynamoDbLocal !== undefined, whyNoDynamoDbLocal);
  // In the checkout, to find its packages.
  const root = mkdtempSync(join(ROOT, 'dist', 'front-end-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const site = await preview({ root, preview: { port: 0 }, logLevel: 'silent' });
  onTestFinished(() => site.close());
  const [address = ''] = site.resolvedUrls?.local ?? [];
  const { origin } = new URL(address);
  const stack = await startStack({
    corsOrigins: [origin],
    keysFile: join(root, 'issuer-keys.json'),
    log: () => undefined,
  });
  onTestFinished(() => stack.close());
  for (const [, name = '', text = ''] of FILES) {
    const own = text
      .replace('http://127.0.0.1:3000', stack.state.gateway)
      .replace('http://127.0.0.1:3001', stack.issuer.url);
    writeFileSync(join(root, name), own);
  }
  await build({ root, configFile: false, logLevel: 'silent', build: { target: 'esnext' } });

  const { page, posts } = await openPage();
  await page.goto(origin);
  await on(page).enterEmail('maria@example.com');
  const subject = page.getByRole('textbox', { name: 'Subject' });
  await subject.fill('from my own front end');
  const send = page.getByRole('button', { name: 'Send' });
  await page.route(`${stack.state.gateway}/**`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    return route.abort('connectionreset');
  });
  await send.click();
  await page.getByRole('alert').getByText('Please try again.').waitFor();
  await page.unrouteAll();
  await send.click();
  const listed = page.locator('pre').getByText(/^\S+Z from my own front end$/);
  await listed.waitFor();
  expect(posts).toEqual([posts[0], posts[0]]);
  await subject.fill('the next');
  await send.click();
  await page
    .locator('pre')
    .getByText(/the next$/m)
    .waitFor();
  expect(new Set(posts).size).toBe(2);
  expect(await subject.inputValue()).toBe('');
  expect((await fetch(stack.state.form)).status).toBe(200);
});
