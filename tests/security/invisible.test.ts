/** No invisible character makes an email or subject look like another to an operator. */
import { expect, it } from 'vitest';
import { formatTable } from '../../inbox/output.ts';
import { formatInquiry } from '../../inbox/show.ts';
import type { Inquiry } from '../../src/contract.ts';
import { escapeAddress } from '../../text/invisible.ts';
import { createDigestMail, createInquiryMail } from '../../mail/team-mails.ts';
import { toMailbox } from '../../text/mailbox.ts';
import { escapeText } from '../../text/visible.ts';
import { EMAIL, INQUIRY } from '../helpers/events.ts';
import { MAIL_SETTINGS as SETTINGS } from '../mail/mail-settings.ts';
import { select } from '../resilience/selection.ts';

const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) =>
  String.fromCodePoint(point),
).filter((character) => /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(character));

const toEscapes = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A mail repeats what does not fit into its subject. */
const digest = (inquiry: Inquiry) =>
  createDigestMail({ count: 1, since: 0, named: [inquiry] }, SETTINGS);

const SURFACES: Record<string, (inquiry: Inquiry) => string> = {
  'a list on a terminal': ({ email, subject }) =>
    formatTable([{ head: '', cell: () => escapeAddress(email) + subject }], [[]], 200),
  'an inquiry on a terminal': formatInquiry,
  'the page': ({ email, subject }) => escapeAddress(email) + escapeText(subject),
  'subjects and texts of mails': (inquiry) =>
    createInquiryMail(inquiry, SETTINGS).subject + digest(inquiry).text,
  'HTML of mails': (inquiry) => digest(inquiry).html,
};

it.each(Object.entries(SURFACES))('invisible characters are shown in %s', async (_, show) => {
  expect(CHARACTERS.length).toBeGreaterThan(4_000);
  // U+FEFF is white space in JavaScript.
  for (const character of [...select(CHARACTERS, 50), '\u2800', '\uFEFF']) {
    const escapes = toEscapes(character);
    // Texts leave out characters that change the order of letters.
    const inSubject = /\p{Bidi_Control}/u.test(character) ? '' : escapes;
    for (const [expected, email, subject] of [
      [escapes, `ana${character}@example.com`, 'Invoice'],
      [escapes, `${character}ana@example.com`, 'Invoice'],
      [`${inSubject}Inv${inSubject}oice`, EMAIL, `${character}Inv${character}oice`],
    ] as const) {
      const shown = show({ ...INQUIRY, email, subject });
      expect(shown).not.toContain(character);
      expect(shown).toContain(expected);
    }
  }
});

it('no mail is sent to an address with invisible characters', async () => {
  for (const character of CHARACTERS) {
    expect(toMailbox(`ana@exa${character}mple.com`)).toBeUndefined();
  }
});
