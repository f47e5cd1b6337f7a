import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { VERBS } from '../../inbox/verbs.ts';
import { stubAws } from '../local/aws.ts';
import { stopClock } from '../local/clock.ts';
import { createFolder, writeState } from '../local/data-folder.ts';
import { EMAIL, SUB } from '../helpers/events.ts';
import { first, refuse } from '../resilience/fault-proxy.ts';
import { beforehand, openInbox, parseLines, startStage, type OwnInbox } from './test-inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';
import { readText } from '../helpers/repository.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TERMINAL = { isTTY: true };
const OTHER = '2f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
const answeredAt = new Date(NOW - 2 * DAY).toISOString();
const ANSWER = { reply: 'Yes.', respondent: 'Ben', reply_at: answeredAt };
const NOBODY = 'müller@example.de';

let table: OwnInbox;
beforeEach(async () => {
  stopClock(NOW);
  table = await openInbox();
});

const add: OwnInbox['add'] = (...parameters) => table.add(...parameters);
const read = ({ id }: { id: string }) => table.inbox.get(id);
const referenceOf = ({ id }: { id: string }) => id.slice(0, 13);
const atTerminal = (line: string) => [line, TERMINAL] as const;

async function expectLines(
  name: string,
  lines: Parameters<OwnInbox['transcribe']>[0],
): Promise<void> {
  await expect(await table.transcribe(lines)).toMatchFileSnapshot(`golden/${name}.txt`);
}

it('list, show and export print JSON lines for programs, and text at a terminal', async () => {
  // An expiry is shown when less than 7 days are left.
  const expires_at = (NOW + 7 * DAY) / 1_000;
  await add(3 * DAY, { expires_at: 1 });
  await add(2 * DAY, { cognito_sub: OTHER, subject: ' \n', body: '=Größe "x"\r\n', expires_at });
  const subject = '注文Hi\u{E0041}';
  await add(3 * HOUR, { email: 'ana\u200B@b.c', subject, expires_at: expires_at - 1 });
  const sent = await add(2 * HOUR, {
    ...ANSWER,
    email: 'müller\u200B@example.de',
    subject: 'Sub\u001b[2Jject\u202E',
    body: `Reply\n\n\u009b31m${'xy '.repeat(13)}Answer   answered by R`,
    language: 'de',
    expires_at: 4_000_000_000,
  });
  const back = await add(HOUR, {
    ...ANSWER,
    email: sent.email,
    body: '=1 "x"\r\n',
    follows: sent.id,
    expires_at: NOW / 1_000 + 60,
  });
  const bounce = { undelivered: 'bounce', undelivered_at: answeredAt } as const;
  for (const [{ id: inquiry }, mail] of [
    [back, 'reply'],
    [sent, 'inquiry'],
  ] as const) {
    await table.deliveries.put({ inquiry, mail, ...bounce, expires_at: 0 }).go();
  }
  await expectLines('lists', [
    'list',
    'list --all',
    `list --email ${EMAIL}`,
    'list --since 4h',
    `list --sub ${OTHER}`,
    'list --limit 1',
    'list --order newest --limit 1',
    'list --text GRÖẞE',
    'list --all --text müller',
    `export --sub ${OTHER.toUpperCase()}`,
    'export --csv --since 90m',
    `export --sub ${SUB} --email ${EMAIL} --since 4h`,
    `show ${referenceOf(back).toUpperCase().replace('-', '')}`,
    atTerminal('list'),
    atTerminal('list --text zz'),
    atTerminal('list --all --limit 2'),
    atTerminal('list --limit 1 --json'),
    atTerminal(`show ${referenceOf(back)}`),
    atTerminal(`show ${referenceOf(sent)}`),
    [`show ${referenceOf(sent)}`, { ...TERMINAL, columns: 40 }],
  ]);
  const exported = parseLines((await table.run('export')).stdout);
  expect(exported.map(({ created_at }) => created_at)).toHaveLength(4);
  const shown = await table.run(`show ${sent.id.toUpperCase()} --json`, TERMINAL);
  expect(JSON.parse(shown.stdout)).toEqual(sent);
});

it('no verb takes an id or reference that is not that of one inquiry', async () => {
  const expired = await add(3 * DAY, { expires_at: 1 });
  const one = await add(HOUR, { id: '01a1f794-6f77-7000-8000-000000000000' });
  await add(HOUR, { id: '01a1f794-6f77-7000-8000-000000000001' });
  const verbs = ['show', 'dismiss', 'reply'];
  const names = [OTHER, expired.id, referenceOf(one)];
  const lines = verbs.flatMap((verb) => names.map((name) => `${verb} ${name}`));
  await expectLines(
    'unknown-inquiries',
    lines.map((line) => [line, { stdin: 'text' }] as const),
  );
  expect(await read(one)).toEqual(one);
});

it('dismiss and reply record one answer, and print who gave it', async () => {
  const row = await add(2);
  const unreachable = await add(1, { email: NOBODY });
  const file = join(table.folder, 'reply.txt');
  writeFileSync(file, '\uFEFFこんにちは\n');
  const reply = `reply ${unreachable.id} --file '${file}'`;
  await expectLines('answers', [
    `dismiss ${referenceOf(row)} --as Ana`,
    atTerminal(`show ${row.id}`),
    [`reply ${row.id}`, { stdin: 'late' }],
    reply,
    `${reply} --anyway --as Ana`,
  ]);
  const answer = { respondent: 'Ana', reply_at: new Date(NOW).toISOString() };
  expect(await read(row)).toEqual({ ...row, ...answer });
  expect(await read(unreachable)).toEqual({ ...unreachable, ...answer, reply: 'こんにちは' });
});

it('reopen makes a dismissed inquiry unanswered, and no other', async () => {
  const rows = [await add(3), await add(2), await add(1)];
  const [dismissed, answered, open] = rows.map(referenceOf);
  await expectLines('reopened', [
    `dismiss ${dismissed} --as Ana`,
    `reopen ${dismissed}`,
    atTerminal(`reopen ${dismissed}`),
    'list',
    [`reply ${answered} --as Ana`, { stdin: 'Yes.' }],
    `reopen ${answered}`,
    `reopen ${open}`,
  ]);
  for (const row of [rows[0], rows[2]]) expect(row && (await read(row))).toEqual(row);
});

it('reply refuses an empty text, one that is not UTF-8 and one that is too long', async () => {
  const row = await add(1, { body: 'b'.repeat(1_000) });
  const reply = `reply ${row.id}`;
  await expectLines('refused-replies', [
    [reply, { stdin: ' \r\n\t' }],
    [reply, { stdin: Buffer.from([0xe9]) }],
    [reply, { stdin: 'ö'.repeat(204_801) }],
    // The inquiry takes some of the room.
    [reply, { stdin: 'o'.repeat(409_600) }],
    `${reply} --file /dev/zero`,
    `${reply} --file '${table.folder}'`,
    atTerminal(reply),
  ]);
  expect(await read(row)).toEqual(row);
});

it('reply opens an editor, sends its text, and keeps a text that was not sent', async () => {
  // The shell that starts the editor must not run what the folder's name holds.
  const folder = join(createFolder(), '$(false); "');
  mkdirSync(folder);
  vi.stubEnv('TMPDIR', folder);
  const said: string[] = [];
  /** Runs a script as the editor. */
  async function edit({ id }: { id: string }, script: string) {
    const editor = join(table.folder, 'my editor');
    writeFileSync(editor, `#!/bin/sh\nset -e\n${script}\n`, { mode: 0o755 });
    const env = { EDITOR: 'false', VISUAL: `'${editor}' --wait` };
    const transcript = await table.transcribe([[`reply ${id}`, { ...TERMINAL, env }]]);
    const [, kept] = /Your text is kept in (.*)$/m.exec(transcript) ?? [];
    said.push(`${script}\n${transcript}${kept ? readFileSync(kept, 'utf8').slice(0, 5) : ''}`);
  }
  const row = await add(1, { subject: 'S\u001b[2J', body: 'first\nsecond' });
  const copy = join(table.folder, 'copy');
  await edit(row, `cp -p "$2" '${copy}'; printf '  Hello\\n\\nOlga\\n' > "$2"`);
  expect(await read(row)).toMatchObject({ reply: '  Hello\n\nOlga' });
  expect([readFileSync(copy, 'utf8'), statSync(copy).mode & 0o777]).toEqual(['', 0o600]);

  const open = await add(2);
  const answer = beforehand(async () => table.answer(open.id, { respondent: 'Ben' }));
  table.meet(first(1, answer), 'UpdateItem');
  const mine = `echo mine > "$2"`;
  const opens = `touch '${folder}/opened'`;
  await edit(await add(3, ANSWER), opens);
  await edit(await add(4, { email: NOBODY }), opens);
  for (const script of [':', `${mine}; exit 1`, mine]) await edit(open, script);
  const transcript = said
    .join('\n')
    .replaceAll(table.folder, 'FOLDER')
    .replaceAll(folder, 'TMPDIR')
    .replaceAll(/(?<=TMPDIR.inquiry-)\w+/g, '…')
    .replace(`as ${userInfo().username}.`, 'as USER.');
  await expect(transcript).toMatchFileSnapshot('golden/edited-replies.txt');
  // The folder has only the two texts that were kept.
  expect(readdirSync(folder)).toHaveLength(2);
});

it('export replaces a file by one that only its owner can read, when it is complete', async () => {
  table = await openInbox({ pageSize: 1 });
  for (const age of [1, 2]) await add(age);
  const { folder } = table;
  const place = createFolder();
  const out = join(place, 'export.jsonl');
  symlinkSync('/dev/null', join(folder, 'link'));
  symlinkSync(place, join(folder, 'place'));
  writeFileSync(out, 'old', { mode: 0o644 });
  const denied = refuse(400, 'AccessDeniedException');
  table.meet((n) => (n === 1 ? denied : undefined), 'Scan');
  const complete = `export --out '${folder}/place/export.jsonl'`;
  await expectLines('refused-exports', [
    complete,
    `export --out '${folder}'`,
    `export --out '${folder}/link'`,
    `export --csv --out '${folder}/no/x'`,
  ]);
  expect([readdirSync(place), readFileSync(out, 'utf8')]).toEqual([['export.jsonl'], 'old']);
  const stderr = `2 inquiries in ${folder}/place/export.jsonl\n`;
  expect(await table.run(complete)).toEqual({ code: 0, stdout: '', stderr });
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(2);
  expect(statSync(out).mode & 0o777).toBe(0o600);
});

it('on a stage, the user of the credentials answers, and nobody is asked for to read', async () => {
  const place = `--stage develop --table ${table.name} --erasures e`;
  const [one, other] = [await add(1), await add(2)];
  stubAws(toEnvironment(table.engine));
  const said = [await table.transcribe([`${place} list`])];
  const { answers } = await startStage(table.engine);
  const toUser = (arn: string) =>
    `<GetCallerIdentityResult><Arn>arn:aws:${arn}</Arn></GetCallerIdentityResult>`;
  for (const [{ id }, status, body] of [
    [one, 403, '<Error><Code>ExpiredToken</Code><Message>secret</Message></Error>'],
    [one, 200, toUser('sts::111122223333:assumed-role/support/ana@example.com')],
    [other, 200, toUser('iam::111122223333:root')],
  ] as const) {
    answers['GetCallerIdentity'] = () => ({ status, body: `<R>${body}</R>` });
    said.push(await table.transcribe([[`${place} reply ${id}`, { stdin: 'Yes.' }]]));
  }
  await expect(said.join('\n')).toMatchFileSnapshot('golden/stage-answers.txt');
});

it('says in one line what is missing, and what to do', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const there = toEnvironment(table.engine);
  const said = [await table.transcribe(['list', atTerminal('list'), atTerminal('list --all')])];
  for (const [variables, line] of [
    [{}, 'list --stage develop'],
    [{ AWS_REGION: 'eu-central-1' }, 'list --stage develop'],
    [toEnvironment(nowhere), 'list --stage develop'],
    [there, 'list --stage release --service shop'],
    [there, 'list --table restored --erasures e'],
  ] as const) {
    stubAws(variables);
    said.push(await table.transcribe([line]));
  }
  for (const engine of [table.engine, nowhere]) {
    writeState(table.folder, { engine, table: 'gone' });
    said.push(await table.transcribe(['list']));
  }
  await expect(said.join('\n')).toMatchFileSnapshot('golden/missing.txt');
});

it('a line that is not understood is refused with exit code 2', async () => {
  const transcript = await table.transcribe([
    '\u001b[2J',
    'toString',
    'help lst',
    '--\u001b[2J list',
    'list --file x',
    'list extra',
    'list --stage prod',
    'list --table x',
    'list --service shop',
    'list --stage main --service shop-main',
    'list --stage main --as x',
    'list --stage main --data x',
    'list --data /\u001b[2J',
    'list --limit 0',
    'list --limit Infinity',
    'list --order up',
    'list --since yesterday',
    'export --json --csv',
    'export --sub \u001b[2J',
    'show',
    'show x',
    'page --port 65536',
    'page --replies /nowhere',
    'page --replies /dev/zero',
    'page --replies LICENSE',
    'page --replies package.json',
    'erase --replay --email a@b',
    'erase --email a@b --forget-before 40d',
    'erase --replay --forget-before 34d',
    'expire',
    'expire --older-than yesterday',
    'export --html',
    `export --sub ${SUB} --since 1d`,
    `export --sub ${SUB} --csv`,
  ]);
  await expect(transcript).toMatchFileSnapshot('golden/refused-lines.txt');
  expect(transcript.split('\n\n').filter((each) => !/^\$ .*\n! .+\n\[2\]\n?$/.test(each))).toEqual(
    [],
  );
});

it('help describes each verb without a running stack, in 80 columns', async () => {
  const help = await table.transcribe(
    [...Object.keys(VERBS), ''].map((verb) => `${verb} --help --data /nowhere`.trim()),
  );
  await expect(help).toMatchFileSnapshot('golden/help.txt');
  expect(help.split('\n').filter(({ length }) => length > 80)).toEqual([]);
  expect(await table.run('help list')).toEqual(await table.run('list --help'));
});

it.each(Object.entries(VERBS))('docs/inbox.md has the verb %s', (name, { takes }) =>
  expect(readText('docs/inbox.md')).toMatch(
    `\n| \`${takes === undefined ? name : `${name} ${takes}`}\` `,
  ),
);
