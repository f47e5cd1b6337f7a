/**
 * Every kind of mail is in tests/mail/golden (npm run golden accepts); its HTML is valid, and nothing that a
 * program lacks carries meaning.
 */
import { caniemail } from 'caniemail';
import { HtmlValidate } from 'html-validate';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from '../text/hostile-texts.ts';
import { createMails, ORDINARY } from './sample-mails.ts';

/** Their HTML differs from that in English by the texts alone. */
const TRANSLATED = /-(de|es|fr|ja)$/;

it.each(Object.entries(createMails(ORDINARY)))(
  'the mail %s is the one in golden',
  async (name, mail) => {
    const { text, html, ...envelope } = mail ?? {};
    const shown = TRANSLATED.test(name) ? [text] : [text, html];
    const whole = [JSON.stringify(envelope, undefined, 2), ...shown].join('\n\n');
    await expect(whole).toMatchFileSnapshot(`golden/${name}.txt`);
  },
);

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:recommended'],
  // Some programs drop style sheets, and all show the subject, not the title.
  rules: { 'no-inline-style': 'off', 'long-title': 'off' },
});

/** Lacking in some programs; caniemail takes overflow-wrap for overflow, and background-color for background. */
// oxfmt-ignore
const LACKING = [
  // A longer word is wider than the mail.
  'overflow-wrap', 'overflow', 'word-break', 'table-layout', 'background',
  // The program chooses dark colours.
  'color-scheme meta tag',
  // Lines are closer, or as wide as the window.
  'line-height', 'max-width', '<body> element',
  // A screen reader may announce a table.
  'role attribute',
  // In Gmail on the mobile web, a mail with Arabic text begins at the right.
  'dir attribute',
  // The marker is as dark as the text.
  'opacity',
  // Shown, it has the subject once more.
  'display', 'display:none',
  // Lacks `bcc`, which no mail has.
  'mailto: links',
  // Missing or wrong, these lose nothing.
  'border', 'border-radius', 'border-spacing', 'font-size', 'font-weight', 'lang attribute', 'margin', 'padding', 'text-align', 'text-decoration', 'width property',
];

describe.each([
  ['ordinary', ORDINARY],
  ['Arabic', 'مرحبا،\nالمصباح معطل.\n\nAna Beck, Example Ltd.'],
  ['hostile', HOSTILE_TEXTS.join('\n')],
])('with an %s text', (_, body) => {
  it.each(Object.entries(createMails(body)))(
    'the HTML of the mail %s is valid, and mail programs show it',
    (_name, mail) => {
      const { html = '' } = mail ?? {};
      const { results } = validator.validateStringSync(html);
      expect(results.flatMap(({ messages }) => messages)).toEqual([]);
      const { issues } = caniemail({
        clients: ['gmail.*', 'apple-mail.*', 'outlook.*', 'yahoo.*', 'samsung-email.*'],
        html,
      });
      const found = [...issues.errors.values(), ...issues.warnings.values()].flat();
      expect(LACKING).toEqual(expect.arrayContaining(found.map(({ title }) => title)));
    },
  );
});
