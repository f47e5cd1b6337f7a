import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fillIn, findBraces } from '../../inbox/page/fill-in.ts';
import { readSavedReplies } from '../../inbox/saved-replies.ts';
import { createFolder } from '../local/data-folder.ts';
import { INQUIRY } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

it.each([
  ['ana.lopez+shop@example.com', 'Ana Lopez'],
  ['MÜLLER_1984@example.com', 'MÜLLER'],
  ['o’neill@example.com', 'O’neill'],
  ['12345@example.com', ''],
])('the name in a saved reply to %s is %s', (email, name) => {
  const id = '01a201c0-abec-7000-8000-000000000000';
  expect(fillIn('{name} $& {reference}', { email, id })).toBe(`${name} $& 01a201c0-abec`);
});

it('no space stands for a name that an address does not have', () => {
  const inquiry = { ...INQUIRY, email: '12345@example.com' };
  expect(fillIn('Hello {name},', inquiry)).toBe('Hello,');
  expect(findBraces('{order} {first name} {} {"a": 1} #{x}')).toEqual([
    '{order}',
    '{first name}',
    '{x}',
  ]);
});

it('saved replies have the form that docs/inbox.md shows, and no other', async () => {
  const file = join(createFolder(), 'replies.json');
  const [, example = ''] = /```json\n(.*?)```/s.exec(readText('docs/inbox.md')) ?? [];
  writeFileSync(file, example);
  expect(await readSavedReplies(file)).toHaveLength(2);
  for (const entry of [
    'null',
    '{"title":"t"}',
    '{"title":1,"text":"t"}',
    '{"title":" ","text":"t"}',
  ]) {
    writeFileSync(file, `[{"title":"t","text":"t"},${entry}]`);
    await expect(readSavedReplies(file)).rejects.toThrow('entry 2 must have');
  }
});
