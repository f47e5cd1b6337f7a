/** The operators' page in Firefox. */
import { expect, it } from 'vitest';
import { needsFirefox, openFirefox } from '../form/firefox.ts';
import { openInbox } from './test-inbox.ts';

it(
  'sends replies, takes a saved one back by Ctrl+Z, and keeps to what keys are meant for',
  needsFirefox,
  async () => {
    const own = await openInbox();
    const url = await own.serve({}, [{ title: 'Thanks', text: 'Hello {name}, thank you.' }]);
    for (const [n, subject] of ['One', 'Two'].entries()) await own.add(9_000 - n, { subject });
    const { page, part, see, click, textsOf, control } = await openFirefox();
    // No time passes, so that whoever has typed goes on typing.
    await page.evaluateOnNewDocument('performance.now = () => 0');
    await page.goto(url);
    const reads = async (subject: string) =>
      await expect.poll(() => textsOf('.ib-read h2')).toEqual([subject]);
    const draft = async () =>
      page.$eval('#reply', (box) => (box as unknown as { value: string }).value);
    await reads('One');
    await part('#reply').fill('My own words');
    await page.focus('#reply');
    await control('a');
    await click('Saved replies');
    await click('Thanks');
    await expect.poll(draft).toBe('Hello Ana, thank you.');
    for (const [press, text] of [
      ['z', 'My own words'],
      ['y', 'Hello Ana, thank you.'],
      ['Enter', ''],
    ] as const) {
      await control(press);
      await expect.poll(draft).toBe(text);
    }
    await reads('Two');
    // Somebody types on.
    await page.keyboard.type('Monday, and paid');
    await see('Answered:');
    await reads('Two');
    // What waits is sent.
    await page.goto('about:blank');
    const replies = async () =>
      (await Array.fromAsync(own.inbox.listInFull({ order: 'oldest' })))
        .flat()
        .map(({ reply_at, reply }) => reply_at && reply);
    await expect.poll(replies).toEqual(['Hello Ana, thank you.', undefined]);
  },
);
