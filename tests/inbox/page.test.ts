import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { losesDraft, outcomeOf } from '../../inbox/page/answers.ts';
import { createDrafts } from '../../inbox/page/drafts.ts';
import { fillIn, findBraces } from '../../inbox/page/fill-in.ts';
import { nameOf } from '../../inbox/page/key-name.ts';
import { readSavedReplies } from '../../inbox/saved-replies.ts';
import { createFolder } from '../local/data-folder.ts';
import { INQUIRY } from '../helpers/events.ts';
import { readText } from '../helpers/repository.ts';

it.each([
  ['в', 'KeyD', false, 'd'],
  ['D', 'KeyD', false, 'd'],
  ['d', 'KeyH', false, 'd'],
  ['D', 'KeyD', true, 'D'],
  ['ю', 'Slash', true, '?'],
  ['Enter', 'Enter', false, 'Enter'],
])('the key %s at the place of %s, with Shift: %s, is %s', (key, code, shiftKey, name) => {
  expect(nameOf({ key, code, shiftKey })).toBe(name);
});

it('drafts stay in memory where the storage is full', () => {
  const setItem = () => {
    throw new Error('QuotaExceededError');
  };
  const drafts = createDrafts({ getItem: () => null, setItem });
  drafts.set('a', 'one');
  expect(drafts.get('a')).toBe('one');
});

it.each([
  ['the longest answer that a browser sends', 1, [29_998], false],
  ['a longer one', 1, [29_999], true],
  ['two that it sends together', 2, [10_000, 10_000], false],
  ['two that it does not', 2, [20_000, 20_000], true],
  ['a draft beside an answer', 2, [1], true],
])('leaving the page with %s loses a draft: %j drafts, %j, %j', (_, drafts, sizes, isLost) => {
  const ids = Array.from({ length: drafts }, (_each, at) => String(at));
  const answers = sizes.map((size) => ({ inquiry: INQUIRY, text: 'é'.repeat(size) }));
  const unconfirmed = new Map(answers.map((given, at) => [String(at), given]));
  expect(losesDraft(ids, unconfirmed)).toBe(isLost);
});

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

it('a draft that is stored as the reply is deleted, and no other', () => {
  const drafts = createDrafts({
    getItem: () => '[["a","one \\n"],["b","two"]]',
    setItem: () => {},
  });
  for (const id of ['a', 'b']) drafts.confirm({ ...INQUIRY, id, reply: 'one' });
  drafts.confirm({ ...INQUIRY, id: 'b' });
  drafts.confirm({ failure: 500, message: 'b' });
  expect(drafts.ids()).toEqual(['b']);
});

const reply_at = '2026-11-20T10:00:00.000Z';

it.each([
  [{ failure: 400, message: 'No.' }, ['Not answered:', /^No\.$/]],
  [{ failure: 0, message: 'No.' }, ['Not answered:', /^No\. It may have been stored;/]],
  [
    { status: 'already-answered', respondent: 'pete', reply_at },
    ['Already answered:', /^by pete at .*2026.*\. Your text is kept there\.$/],
  ],
] as const)('%j is not taken for a stored answer', (result, [title, text]) => {
  const { answer, problem } = outcomeOf('Yes.', result);
  expect([answer, problem]).toEqual([undefined, [title, expect.stringMatching(text)]]);
});

it('a stored answer has the text that was sent; nothing is kept of a dismissal', () => {
  const stored = { respondent: 'olga', reply_at };
  for (const reply of ['Yes.', undefined]) {
    expect(outcomeOf(reply, { status: 'answered', ...stored })).toEqual({
      answer: { ...stored, reply },
    });
  }
  const { problem } = outcomeOf(undefined, { status: 'already-answered', ...stored });
  expect(problem?.[1]).not.toContain('kept');
});
