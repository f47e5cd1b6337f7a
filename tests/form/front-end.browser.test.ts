import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, preview } from 'vite';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../lib/paths.ts';
import { startStack } from '../../local/stack.ts';
import { anyone, openPage } from './contact-form.ts';
import { whyNoDynamoDbLocal } from '../helpers/engines.ts';
import { unless } from '../helpers/needs.ts';
import { readCodeBlocks } from '../helpers/repository.ts';

it(
  'signs in, sends once through a lost answer, and lists, from its own origin',
  unless(whyNoDynamoDbLocal),
  async () => {
    // Vite finds packages only inside of the checkout.
    using folder = mkdtempDisposableSync(join(ROOT, 'dist', 'front-end-'));
    const root = folder.path;
    const site = await preview({ root, preview: { port: 0 }, logLevel: 'silent' });
    onTestFinished(() => site.close());
    const [address = ''] = site.resolvedUrls?.local ?? [];
    const { origin } = new URL(address);
    const { state, issuer, close } = await startStack({
      corsOrigins: [origin],
      keysFile: join(root, 'issuer-keys.json'),
      log: () => undefined,
    });
    onTestFinished(() => close());
    for (const [name, text] of readCodeBlocks('docs/front-end.md')) {
      const own = text
        .replace('http://127.0.0.1:3000', state.gateway)
        .replace('http://127.0.0.1:3001', issuer.url);
      writeFileSync(join(root, name), own);
    }
    await build({ root, configFile: false, logLevel: 'silent', build: { target: 'esnext' } });

    const { page, posts, click, enterEmail, seeIn } = await openPage();
    await page.goto(origin);
    await enterEmail(anyone());
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await subject.fill('from my own front end');
    await page.route(`${state.gateway}/**`, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort('connectionreset');
    });
    await click('Send');
    await seeIn('[role=alert]', 'Please try again.');
    await page.unrouteAll();
    await click('Send');
    await seeIn('pre', /^\S+Z from my own front end$/);
    expect(posts).toEqual([posts[0], posts[0]]);
    await subject.fill('the next');
    await click('Send');
    await seeIn('pre', /the next$/m);
    expect(new Set(posts).size).toBe(2);
    expect(await subject.inputValue()).toBe('');
  },
);
