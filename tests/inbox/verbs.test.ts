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
import { stubAws } from '../helpers/aws.ts';
import { createFolder, writeState } from '../helpers/data-folder.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { first, refuse } from '../helpers/fault-proxy.ts';
import {
  beforehand,
  containing,
  openInbox,
  parseLines,
  startStage,
  type OwnInbox,
} from '../helpers/inbox.ts';
import type { IoOptions } from '../helpers/io.ts';
import { toEnvironment } from '../helpers/own-table.ts';

process.env['TZ'] = 'UTC';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TERMINAL = { isTTY: true };
const OTHER = '2f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
const answeredAt = new Date(Date.now() - 2 * DAY).toISOString();
const ANSWER = { reply: 'Yes.', respondent: 'Ben', reply_at: answeredAt };
const NO_CREDENTIALS =
  'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';

let table: OwnInbox;
beforeEach(async () => {
  table = await openInbox();
});

const add: OwnInbox['add'] = (...parameters) => table.add(...parameters);
const read = ({ id }: { id: string }) => table.inbox.get(id);
const referenceOf = ({ id }: { id: string }) => id.slice(0, 13);
const toUtc = (time: string) => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** Failures say so on standard error; unsafe characters are escaped, for programs, too. */
async function run(line: string, options?: IoOptions) {
  const { code, stdout, stderr } = await table.run(line, options);
  const said = stderr.replaceAll(/\r.\[K([\d,]+ inquir\w+ …)?/g, '');
  expect(stdout + said).not.toMatch(/[^\P{Cc}\s]|\p{Bidi_Control}/u);
  return code === 0 ? { code, output: stdout, other: said } : { code, output: said, other: stdout };
}

/** A failure is compared by the beginning of its line. */
async function expectLines(
  cases: readonly (readonly [line: string, code: number, output: unknown, options?: IoOptions])[],
) {
  for (const [line, code, expected, options] of cases) {
    const { output, ...result } = await run(line, options);
    const beginning = code === 0 ? output : output.slice(0, String(expected).length);
    const isOneLine = code === 0 || /^.+\n$/.test(output);
    expect([line, result, beginning, isOneLine]).toEqual([
      line,
      { code, other: '' },
      expected,
      true,
    ]);
  }
}

it('list, show and export print JSON lines for programs, and text at a terminal', async () => {
  await expectLines([
    ['list --all', 0, 'There are no inquiries.\n', TERMINAL],
    ['list', 0, ''],
  ]);
  const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400 + 60;
  const expired = await add(3 * DAY, { expires_at: 1 });
  const far = await add(2 * DAY, { cognito_sub: OTHER, subject: ' \n', body: '=Größe "x"\r\n' });
  const near = await add(3 * HOUR, {
    email: 'ana\u200B@b.c',
    subject: '注文Hi\u{E0041}',
    expires_at,
  });
  const sent = await add(2 * HOUR, {
    ...ANSWER,
    email: 'müller\u200B@example.de',
    subject: 'Sub\u001b[2Jject\u202E',
    body: 'one\n\u009b31mtwo',
    language: 'de',
    expires_at: 4_000_000_000,
  });
  const back = await add(HOUR, ANSWER);
  const bounce = { undelivered: 'bounce', undelivered_at: answeredAt } as const;
  for (const [{ id: inquiry }, mail] of [
    [back, 'reply'],
    [sent, 'inquiry'],
  ] as const) {
    await table.deliveries.put({ inquiry, mail, ...bounce, expires_at: 0 }).go();
  }
  const shown = { ...back, ...bounce };

  for (const [line, ...expected] of [
    ['list', far, near],
    ['list --all', shown, sent, near, far],
    [`list --email ${EMAIL}`, far],
    ['list --since 4h', near],
    [`list --sub ${OTHER}`, far],
    ['list --limit 1', far],
    ['list --order newest --limit 1', near],
    ['list --text GRÖẞE', far],
    ['list --all --text müller', sent],
    ['export', far, near, sent, back],
    [`export --sub ${SUB.toUpperCase()}`, near, sent, back],
    [`export --sub ${SUB} --email ${EMAIL} --since 4h`, back],
    [`show ${sent.id.toUpperCase()}`, sent],
    [`show ${referenceOf(back).toUpperCase().replace('-', '')}`, shown],
  ] as const) {
    const { code, output } = await run(line);
    const printed = parseLines(output);
    // An export has no order.
    if (line.startsWith('export')) {
      printed.sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
    }
    const left = line.startsWith('list') && { body: undefined, reply: undefined };
    const rows = expected.map((row) => Object.assign({}, row, left));
    expect([line, code, printed]).toEqual([line, 0, rows]);
  }

  for (const line of ['list --all', 'export', `show ${back.id}`]) {
    await expectLines([[`${line} --json`, 0, (await run(line)).output, TERMINAL]]);
  }
  const csv = `\uFEFF"id","cognito_sub","email","subject","body","created_at","language","email_verified","expires_at","reply","respondent","reply_at"\r
"${far.id}","${OTHER}","${EMAIL}"," \n","'=Größe ""x""\n","${far.created_at}",,,,,,\r\n`;
  await expectLines([
    [`export --csv --sub ${OTHER}`, 0, csv],
    [
      'list',
      0,
      String.raw`REFERENCE      AGE  EXPIRES  EMAIL            SUBJECT
${referenceOf(far)}  2d            ana@example.com  No subject
${referenceOf(near)}  3h   in 3d    ana\u200b@b.c    注文Hi\udb40\udc41
`,
      TERMINAL,
    ],
    ['list --text zz', 0, 'No unanswered inquiries with this text.\n', TERMINAL],
    [
      'list --all --limit 2',
      0,
      String.raw`REFERENCE      AGE  ANSWERED   EMAIL                    SUBJECT
${referenceOf(back)}  1h   came back  ana@example.com          s
${referenceOf(sent)}  2h   2d ago     müller\u200b@example.de  Sub\u001b[2Jject
The newest 2 inquiries; --limit N shows more.
`,
      TERMINAL,
    ],
    ['list --all --limit 1', 0, containing('  SUBJECT  BY\n'), { ...TERMINAL, columns: 120 }],
    [
      `show ${back.id}`,
      0,
      containing(`\nMail       came back, ${toUtc(answeredAt)} (2d ago)\n`),
      TERMINAL,
    ],
    [
      `show ${sent.id}`,
      0,
      String.raw`Reference  ${referenceOf(sent)}
Email      müller\u200b@example.de
Id         ${sent.id}
Owner      ${SUB}
Received   ${toUtc(sent.created_at)}
Language   de
Expires    2096-10-02 07:06:40 UTC
Answer     answered by Ben, ${toUtc(answeredAt)} (2d ago)
Mail       none can go to this address
Subject    Sub\u001b[2Jject

  one
  \u009b31mtwo

Reply

  Yes.
`,
      TERMINAL,
    ],
  ]);

  const twin = await add(0, { id: near.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) });
  const [low, high] = [near.id, twin.id].toSorted();
  for (const verb of ['show', 'dismiss', 'reply']) {
    for (const [named, message] of [
      [INQUIRY.id, `There is no inquiry ${INQUIRY.id}.`],
      [expired.id, `There is no inquiry ${expired.id}.`],
      [
        referenceOf(near),
        `More than one inquiry has the reference ${referenceOf(near)}: ${high}, ${low}.`,
      ],
    ]) {
      await expectLines([[`${verb} ${named}`, 1, message, { stdin: 'text' }]]);
    }
  }
  expect(await read(near)).toEqual(near);
});

it('dismiss and reply record one answer, and print who gave it', async () => {
  const row = await add(2);
  const [result] = parseLines((await run(`dismiss ${referenceOf(row)} --as Ana`)).output);
  expect(result).toEqual({ id: row.id, respondent: 'Ana', reply_at: containing('T') });
  expect(await read(row)).toEqual({ ...row, ...result });
  const unreachable = await add(1, { email: 'müller@example.de' });
  const file = join(table.folder, 'reply.txt');
  writeFileSync(file, '\uFEFFこんにちは\n');
  const reply = `reply ${unreachable.id} --file ${file}`;
  await expectLines([
    [`show ${row.id}`, 0, containing('\nAnswer     dismissed by Ana, 2'), TERMINAL],
    [`reply ${row.id}`, 3, 'Already answered by Ana at 20', { stdin: 'late' }],
    [reply, 4, 'No mail can go to müller@example.de, so nothing was changed;'],
    [`${reply} --anyway`, 0, containing(unreachable.id)],
  ]);
  const respondent = userInfo().username;
  expect(await read(unreachable)).toMatchObject({ reply: 'こんにちは', respondent });
});

const TOO_LONG = 'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';

it('reply refuses an empty text, one that is not UTF-8 and one that is too long', async () => {
  const row = await add(1, { body: 'b'.repeat(1_000) });
  const reply = `reply ${row.id}`;
  const unread = 'The reply cannot be read from';
  await expectLines([
    [reply, 2, 'The reply is empty; nothing was changed.', { stdin: ' \r\n\t' }],
    [reply, 2, `${unread} standard input (it is not UTF-8).`, { stdin: Buffer.from([0xe9]) }],
    [reply, 2, TOO_LONG, { stdin: 'ö'.repeat(204_801) }],
    // The inquiry leaves less room.
    [reply, 1, TOO_LONG, { stdin: 'o'.repeat(409_600) }],
    [`${reply} --file /dev/zero`, 2, TOO_LONG],
    [`${reply} --file ${table.folder}`, 2, `${unread} ${table.folder} (EISDIR).`],
    [reply, 2, 'There is no editor; set $EDITOR, or pass --file FILE or standard input.', TERMINAL],
  ]);
  expect(await read(row)).toEqual(row);
});

it('reply opens an editor, sends what is above a line, and keeps a text that was not sent', async () => {
  // The shell that starts the editor takes its name for nothing else.
  const folder = join(createFolder(), '$(false); "');
  mkdirSync(folder);
  vi.stubEnv('TMPDIR', folder);
  /** Runs a shell script as the editor, with the file as last argument. @returns Also what is kept of the text. */
  async function edit({ id }: { id: string }, script: string) {
    const editor = join(table.folder, 'my editor');
    writeFileSync(editor, `#!/bin/sh\nset -e\n${script}\n`, { mode: 0o755 });
    const env = { EDITOR: 'false', VISUAL: `'${editor}' --wait` };
    const { code, output } = await run(`reply ${id}`, { ...TERMINAL, env });
    const [, kept] = /^Your text is kept in (.*)$/m.exec(output) ?? [];
    return [code, output, kept === undefined ? '' : readFileSync(kept, 'utf8').slice(0, 5)];
  }
  const row = await add(1, { subject: 'S\u001b[2J', body: 'first\nsecond' });
  const copy = join(table.folder, 'copy');
  const write = `cp -p "$2" '${copy}'; sed -i '3s/^/  Hello/; 5s/^/Olga/' "$2"`;
  const done = `Answered ${referenceOf(row)} as ${userInfo().username}.\n`;
  expect(await edit(row, write)).toEqual([0, done, '']);
  expect(await read(row)).toMatchObject({ reply: '  Hello\n\nOlga' });
  const [above, below] = readFileSync(copy, 'utf8').split(/^-+ >8 -+$/m);
  expect(above?.trim()).toBe('');
  expect(below).toContain(`\nEmail:    ${EMAIL}\nSubject:  S\\u001b[2J\n\n> first\n> second\n`);
  expect(statSync(copy).mode & 0o777).toBe(0o600);

  const open = await add(1);
  const answer = beforehand(async () => table.answer(open.id, { respondent: 'Ben' }));
  table.meet(first(1, answer), 'UpdateItem');
  const mine = `sed -i '1s/^/mine/' "$2"`;
  const opens = `touch '${folder}/opened'`;
  for (const [inquiry, script, code, message, kept = ''] of [
    [await add(1, ANSWER), opens, 3, 'Already answered by Ben at 20'],
    [await add(1, { email: 'müller@example.de' }), opens, 4, 'No mail can go to müller@example.de'],
    [open, ':', 2, 'The reply is empty; nothing was sent.'],
    [open, 'echo text > "$2"', 1, 'The line above the inquiry is missing', 'text\n'],
    [open, `${mine}; exit 1`, 1, 'The editor failed', 'mine\n'],
    [open, mine, 3, 'Already answered by Ben at 20', 'mine\n'],
  ] as const) {
    expect(await edit(inquiry, script)).toEqual([code, containing(message), kept]);
  }
  // Only what is kept.
  expect(readdirSync(folder)).toHaveLength(3);
});

it('export replaces a file by one that only its owner can read, when it is complete', async () => {
  table = await openInbox({ pageSize: 1 });
  for (const age of [1, 2]) await add(age);
  const place = createFolder();
  const out = join(place, 'export.jsonl');
  const link = join(table.folder, 'link');
  writeFileSync(out, 'old', { mode: 0o644 });
  symlinkSync('/dev/null', link);
  const denied = refuse(400, 'AccessDeniedException');
  table.meet((n) => (n === 1 ? denied : undefined), 'Scan');
  await expectLines([
    [`export --out ${out}`, 1, 'The AWS credentials do not allow '],
    [`export --out ${place}`, 2, `--out ${place} is not a regular file.`],
    [`export --out ${link}`, 2, `--out ${link} is not a regular file.`],
    [`export --csv --out ${place}/no/x`, 1, `${place}/no/x cannot be written (ENOENT).`],
  ]);
  expect([readdirSync(place), readFileSync(out, 'utf8')]).toEqual([['export.jsonl'], 'old']);
  const other = `2 inquiries in ${out}\n`;
  expect(await run(`export --out ${out}`)).toEqual({ code: 0, output: '', other });
  expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(2);
  expect(statSync(out).mode & 0o777).toBe(0o600);
});

it('on a stage, the user of the credentials answers, and nobody is asked for to read', async () => {
  const place = `--stage develop --table ${table.name} --erasures e`;
  const row = await add(1);
  stubAws(toEnvironment(table.engine));
  await expectLines([[`${place} list`, 0, containing(row.id)]]);
  const { answers } = await startStage(table.engine);
  const signIn = (status: number, body: string) => {
    answers['GetCallerIdentity'] = () => ({ status, body: `<R>${body}</R>` });
  };
  signIn(403, '<Error><Code>ExpiredToken</Code><Message>secret</Message></Error>');
  await expectLines([[`${place} reply ${row.id}`, 1, NO_CREDENTIALS, { stdin: 'x' }]]);
  expect(await read(row)).toEqual(row);
  for (const [role, name] of [
    ['sts::111122223333:assumed-role/support/ana@example.com', 'ana@example.com'],
    ['iam::111122223333:root', 'root'],
  ]) {
    const { id } = await add(1);
    signIn(200, `<GetCallerIdentityResult><Arn>arn:aws:${role}</Arn></GetCallerIdentityResult>`);
    expect(await run(`${place} reply ${id}`, { stdin: 'Yes.' })).toEqual({
      code: 0,
      output: containing(`"respondent":"${name}"`),
      other: `Table ${table.name} of develop, answered by ${name}\n`,
    });
  }
});

it('says in one line what is missing, and what to do', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const there = toEnvironment(table.engine);
  for (const [variables, line, message] of [
    [{}, 'list --stage develop', 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
    [{ AWS_REGION: 'eu-central-1' }, 'list --stage develop', NO_CREDENTIALS],
    [toEnvironment(nowhere), 'list --stage develop', 'AWS cannot be reached (ECONNREFUSED).'],
    [
      there,
      'list --stage release --service shop',
      'The table shop-release does not exist in this account and region; deploy the stage: npm run deploy -- release.',
    ],
    [there, 'list --table restored --erasures e', 'The table restored does not exist.\n'],
  ] as const) {
    stubAws(variables);
    await expectLines([[line, 1, message]]);
  }
  for (const [engine, message] of [
    [
      table.engine,
      'The table of the local stack does not exist; restart the stack with npm start.',
    ],
    [nowhere, 'The engine of the local stack cannot be reached (ECONNREFUSED).'],
  ] as const) {
    writeState(table.folder, { engine, table: 'gone' });
    await expectLines([['list', 1, message]]);
  }
});

it('a line that is not understood is refused with exit code 2', async () => {
  for (const [line = '', message] of [
    ['', 'The verb is missing, e.g. '],
    ['\u001b[2J', String.raw`"\u001b[2J" is not a verb`],
    ['toString', '"toString" is not a verb; verbs are list, show, '],
    ['help lst', '"lst" is not a verb'],
    ['--\u001b[2J list', String.raw`Unknown option '--\u001b[2J'`],
    ['list --file x', '--file is no option of list'],
    ['list extra', 'list takes options only'],
    ['list --stage prod', '"prod" is not a stage; stages are develop, main, release.'],
    ['list --table x', '--table and --erasures belong together'],
    ['list --service shop', '--service is for a stage'],
    ['list --stage main --service shop-main', '"shop-main" is not the name'],
    ['list --stage main --as x', '--as is for the local stack'],
    ['list --stage main --data x', '--data is for the local stack'],
    ['list --data /\u001b[2J', String.raw`No local stack is running (there is no /\u001b[2J`],
    ['list --limit 0', '--limit must be'],
    ['list --limit Infinity', '--limit must be'],
    ['list --order up', '--order must be'],
    ['list --since yesterday', '--since must be'],
    ['export --json --csv', '--json and --csv exclude each other'],
    ['export --sub \u001b[2J', String.raw`--sub must be a UUID, not "\u001b[2J"`],
    ['show', 'show takes the id or reference of one inquiry'],
    ['show x', 'ID must be an id or a reference, not "x"'],
    ['--web --port 65536', 'The port must be'],
    ...[
      ['/nowhere', 'ENOENT.'],
      ['/dev/zero', 'it is larger'],
      ['LICENSE', 'it is not JSON.'],
      ['package.json', 'it is not a list.'],
    ].map(([file, why]) => [
      `--web --replies ${file}`,
      `The saved replies in ${file} cannot be used: ${why}`,
    ]),
    [`erase --sub ${SUB} --email a@b`, 'erase takes one of'],
  ]) {
    await expectLines([[line, 2, message]]);
  }
});

it('help describes each verb without a running stack, in 80 columns', async () => {
  for (const verb of [...Object.keys(VERBS), '']) {
    const { output } = await run(`${verb} --help --data /nowhere`);
    expect(output).toContain(`Usage: npm run inbox -- [--stage STAGE] ${verb || 'VERB'} `);
    expect(output.split('\n').filter(({ length }) => length > 80)).toEqual([]);
    if (verb !== '') await expectLines([[`help ${verb}`, 0, output]]);
  }
});
