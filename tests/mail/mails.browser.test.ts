import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { createReplyMail } from '../../mail/owner-mails.ts';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';
import { INQUIRY } from '../helpers/events.ts';
import {
  expectAccessible,
  expectFits,
  MAIL_RULES,
  needsBrowser,
  openPage,
  takePicture,
} from '../form/chromium.ts';
import { createMails, ORDINARY, SETTINGS } from './sample-mails.ts';

/** Those that nothing but their language or a line of text tells apart are left out. */
const MAILS = [
  'inquiry-that-follows',
  'answered',
  'returned',
  'daily-with-replies',
  'notice-of-a-reply',
  'reply-en',
  'acknowledgement-ar',
] as const;

async function check(page: Page, mail: { html: string } | undefined, name: string) {
  await page.setContent(mail?.html ?? '');
  // axe takes the background of the window for white.
  await page.addStyleTag({ content: ':root { background: canvas }' });
  await expectAccessible(page, MAIL_RULES);
  for (const width of [360, 900]) {
    await page.setViewportSize({ width, height: 560 });
    await expectFits(page);
    await takePicture(page, `mail-${name}-${width}`);
  }
}

it.each([
  ['ordinary', ORDINARY],
  ['hostile', HOSTILE_TEXTS.join('\n')],
])(
  'mails with an %s text are accessible and fit into a phone',
  needsBrowser,
  async (kind, text) => {
    const { page } = await openPage();
    const mails: Record<string, { html: string } | undefined> = createMails(text);
    for (const name of MAILS) await check(page, mails[name], `${kind}-${name}`);
  },
);

it('an answer to its owner, as README shows it', needsBrowser, async () => {
  const { page } = await openPage();
  const inquiry = {
    ...INQUIRY,
    isEmailVerified: true,
    subject: 'My parcel',
    body: 'Hello,\n\nwhere is the parcel with my lamp? It was to come on Tuesday.',
    reply:
      'Hello Ana,\n\nthe carrier has it since this morning: https://shop.example/track?id=12\nIf it is not with you by Friday, we send you another one.\n\nOlga',
  };
  await check(page, createReplyMail(inquiry, SETTINGS), 'answer');
});
