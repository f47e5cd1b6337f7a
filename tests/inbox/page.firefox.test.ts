/** The operators' page in Firefox. */
import type { HTTPRequest } from 'puppeteer-core';
import { expect, it } from 'vitest';
import { needsFirefox, openFirefox } from '../form/firefox.ts';
import { openInbox } from './test-inbox.ts';

it.each([
  ['with', true],
  ['without', false],
])('answers, dismisses and reopens in Firefox, %s its script', needsFirefox, async (_, isOn) => {
  const own = await openInbox();
  const address = await own.serve({}, [{ title: 'Thanks', text: 'Hello {name}, thank you.' }]);
  for (const [n, subject] of ['One', 'Two'].entries()) await own.add(9_000 - n, { subject });
  const { page, part, see, click, textsOf, control, intercept } = await openFirefox();
  // The driver needs JavaScript, so only the page's own script is left out.
  const answer = async (request: HTTPRequest) => (isOn ? request.continue() : request.abort());
  await intercept(new URL('/script.js', address).href, answer);
  const stores = async (...expected: (string | undefined)[]) => {
    const read = async () =>
      (await Array.fromAsync(own.inbox.listInFull({ order: 'oldest' })))
        .flat()
        .map(({ respondent, reply = respondent && '' }) => reply);
    await expect.poll(read).toEqual(expected);
  };
  await page.goto(address);
  await click('One');
  await click('Saved replies');
  await click('Thanks');
  await part('#reply', 'Hello Ana').click();
  if (isOn) await control('Enter');
  else await click('Send reply');
  await see('Answered:');
  await stores('Hello Ana, thank you.', undefined);
  expect(await textsOf('h1')).toEqual(['Two']);
  await click('Dismiss');
  await see('Dismissed:');
  await stores('Hello Ana, thank you.', '');
  await click('Reopen');
  await see('Reopened:');
  await stores('Hello Ana, thank you.', undefined);
});
