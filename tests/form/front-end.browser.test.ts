/** The front end of docs/front-end.md, built with Vite, in a real browser. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, preview } from 'vite';
import { expect, it, onTestFinished } from 'vitest';
import { startStack } from '../../local/stack.ts';
import { ROOT } from '../../lib/paths.ts';
import { readText } from '../helpers/repository.ts';
import { enterEmail, setUp, whyNoBrowser } from '../helpers/chromium.ts';

/** The files of the example: code blocks that begin with their name. */
const FILES = [
  ...readText('docs/front-end.md').matchAll(
    /^```\w+\n(?:<!--|\/\/) (\S+\.\w+)(?: -->)?\n(.*?)^```/gms,
  ),
].map(([, name = '', text = '']) => ({ name, text }));

const here = setUp();

it.skipIf(whyNoBrowser !== undefined)(
  'signs in, sends and lists from its own origin, while the contact form runs',
  async () => {
    // In the checkout, so that its packages are found.
    mkdirSync(join(ROOT, 'test-results'), { recursive: true });
    const root = mkdtempSync(join(ROOT, 'test-results/front-end-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const server = await preview({
      root,
      preview: { port: 0, host: 'localhost' },
      logLevel: 'silent',
    });
    onTestFinished(() => server.close());
    const origin = new URL(server.resolvedUrls?.local[0] ?? '').origin;
    const stack = await startStack({
      engine: 'dynalite',
      corsOrigins: [origin],
      keysFile: join(root, 'issuer-keys.json'),
      log: () => undefined,
    });
    onTestFinished(() => stack.close());
    for (const { name, text } of FILES) {
      // The addresses of this stack, in the place of the default ones.
      const own = text
        .replace('http://127.0.0.1:3000', stack.state.gateway)
        .replace('http://127.0.0.1:3001', stack.issuer.url)
        .replace('inquiries-local', stack.issuer.clientId);
      writeFileSync(join(root, name), own);
    }
    await build({ root, configFile: false, logLevel: 'silent', build: { target: 'esnext' } });

    const { page, complaints } = await here.open();
    await page.goto(`${origin}/`);
    await enterEmail(page, 'maria@example.com');
    await page.getByRole('textbox', { name: 'Subject' }).fill('from my own front end');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect
      .poll(() => page.locator('pre').textContent())
      .toMatch(/^\S+Z from my own front end$/);
    expect(await page.getByRole('textbox', { name: 'Subject' }).inputValue()).toBe('');
    expect(complaints).toEqual([]);
    expect((await fetch(stack.state.form)).status).toBe(200);
  },
);
