/** The mails are other projects' test data (tests/mail/received/mails/README.md), with the text that is new in each. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findNewText } from '../../../mail/received/new-text.ts';
import { parseMail } from '../../../mail/received/parse-mail.ts';
import golden from './golden/mails.json' with { type: 'json' };

const FOLDER = join(import.meta.dirname, 'mails');

it('each mail has its right value', () => {
  const mails = readdirSync(FOLDER).filter((file) => file.endsWith('.eml'));
  expect(mails.length).toBeGreaterThanOrEqual(60);
  expect(new Set(mails)).toEqual(new Set(Object.keys(golden).map((name) => `${name}.eml`)));
});

it.each(Object.entries(golden))('%s: the new text', async (name, right) => {
  const mail = await parseMail(readFileSync(join(FOLDER, `${name}.eml`)), 'olga@example.com');
  expect(mail?.from).toBe('olga@example.com');
  const added = findNewText(mail?.text ?? '', 'inquiries@example.com');
  expect('text' in added ? added.text : `[${added.why}]`).toBe(right);
});
