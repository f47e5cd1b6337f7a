/** `npm run inbox`: exit code, standard output and standard error of each verb; `erase` has a file of its own. */
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { UUID } from 'uuidv7';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { refuse } from '../helpers/fault-proxy.ts';
import {
  beforehand,
  createFolder,
  onRequest,
  openInbox,
  parseLines,
  runInbox,
  startStage,
  stubAws,
  writeState,
} from '../helpers/inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';

process.env['TZ'] = 'UTC';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TERMINAL = { isTTY: true, columns: 100 };
const OTHER = '2f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
const ANSWER = { reply: 'Yes.', respondent: 'Ben', reply_at: '2026-11-20T10:00:00.000Z' };
const NO_CREDENTIALS =
  'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';

/** What a verb that fails in one line exits with and prints. */
const failure = (stderr: string, code = 1) => ({ code, stdout: '', stderr: `${stderr}\n` });
const containing = (text: string) => expect.stringContaining(text) as unknown;

describe('with a table', () => {
  let table: Awaited<ReturnType<typeof openInbox>>;
  beforeEach(async () => {
    table = await openInbox();
  });
  const add: (typeof table)['add'] = (...parameters) => table.add(...parameters);
  const stored = (id: string) => table.inbox.get(id);
  const run = (line: string | readonly string[], options?: Parameters<(typeof table)['run']>[1]) =>
    table.run(typeof line === 'string' ? line.split(' ') : line, options);
  const rowsOf = async (line: string) => parseLines((await run(line)).stdout);
  const show = async (line: string) => (await run(line, TERMINAL)).stdout;

  it('list, export and show print JSON lines into a pipe, and with --json', async () => {
    expect(await run('list')).toEqual({ code: 0, stdout: '', stderr: '' });
    const rows = [
      await add(DAY, { ...ANSWER, expires_at: 4_000_000_000 }),
      await add(HOUR, { email: 'b@example.com', cognito_sub: OTHER, body: 'Größe' }),
      await add(1_000, { email: 'new@example.com', language: 'de', subject: '\u001b[2J\u202E' }),
    ];
    for (const [line, ...expected] of [
      ['list', 1, 2],
      ['list --all', 2, 1, 0],
      ['list --email b@example.com', 1],
      ['list --since 30m', 2],
      [`list --sub ${OTHER}`, 1],
      ['list --limit 1', 1],
      ['list --order newest --limit 1', 2],
      ['list --text GRÖẞE', 1],
      ['list --all --text ana', 0],
      ['export', 0, 1, 2],
      [`export --sub ${SUB.toUpperCase()}`, 0, 2],
      [`export --sub ${SUB} --email ${EMAIL} --since 2h`],
      [`show ${rows[0]?.id.toUpperCase()}`, 0],
      [`show ${rows[0]?.id.slice(0, 13).toUpperCase().replace('-', '')}`, 0],
    ] as [string, ...number[]][]) {
      const { code, stdout, stderr } = await run(line);
      expect([line, code, stderr]).toEqual([line, 0, '']);
      expect(await run(`${line} --json`, TERMINAL)).toMatchObject({ stdout });
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
      const printed = parseLines(stdout);
      // Exports have no order.
      if (line.startsWith('export')) {
        printed.sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
      }
      const whole = expected.map((n) => rows[n]);
      const listed = whole.map((row) => ({ ...row, body: undefined, reply: undefined }));
      expect(printed).toEqual(line.startsWith('list') ? listed : whole);
    }
  });

  it('list prints a table at a terminal, shows what is invisible, and marks what expires within seven days', async () => {
    expect(await show('list')).toBe('No unanswered inquiries.\n');
    expect(await show('list --all')).toBe('There are no inquiries.\n');
    const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400 + 60;
    const near = await add(3 * HOUR, {
      expires_at,
      subject: '注文Hi\u{E0041}',
      email: 'ana\u200B@b.example',
    });
    const far = await add(2 * DAY, { expires_at: expires_at + 30 * 86_400, subject: ' \n' });
    const head = `REFERENCE      AGE  EXPIRES  EMAIL                SUBJECT\n`;
    const first = `${far.id.slice(0, 13)}  2d            ana@example.com      No subject\n`;
    const second = String.raw`${near.id.slice(0, 13)}  3h   in 3d    ana\u200b@b.example  注文Hi\udb40\udc41`;
    expect(await show('list')).toBe(`${head}${first}${second}\n`);
    expect(await show('list --order newest')).toBe(`${head}${second}\n${first}`);
    expect(await show('list --text zz')).toBe('No unanswered inquiries with this text.\n');
  });

  it('list and show say who answered, what could not be delivered, and that there are more', async () => {
    const reply_at = new Date(Date.now() - 2 * DAY).toISOString();
    await add(3 * HOUR, { ...ANSWER, reply_at });
    const { id: sent } = await add(2 * HOUR, { ...ANSWER, reply_at });
    const { id } = await add(HOUR, { ...ANSWER, reply_at });
    const state = { undelivered: 'bounce', undelivered_at: ANSWER.reply_at } as const;
    for (const [inquiry, mail] of [
      [id, 'reply'],
      [sent, 'inquiry'],
    ] as const) {
      await table.deliveries.put({ inquiry, mail, ...state, expires_at: 0 }).go();
    }
    const [, ...lines] = (await show('list --all --limit 2')).split('\n');
    expect(lines).toEqual([
      containing('  came back! Ben, 2d ago  ana@example.com  s'),
      containing('  Ben, 2d ago             ana@example.com  s'),
      'The newest 2 inquiries; --limit N shows more.',
      '',
    ]);
    expect(await show('list --all --limit 3')).not.toContain('shows more');
    expect(await show(`show ${id}`)).toMatch(/^Mail {7}came back, 2026-11-20 10:00:00 UTC \(/m);
    for (const line of ['list --all --limit 1', `show ${id}`]) {
      expect(await rowsOf(line)).toMatchObject([{ id, ...state }]);
    }
  });

  it('show prints text at a terminal', async () => {
    const { id } = await add(DAY, {
      ...ANSWER,
      subject: 'Sub\u001b[2Jject',
      body: 'one\n\u009b31mtwo',
      expires_at: 4_000_000_000,
      email: 'müller\u200B@example.de',
      language: 'de',
    });
    const time = String.raw`20[-\d]+ [:\d]+ UTC`;
    expect(await show(`show ${id}`)).toMatch(
      new RegExp(
        `^Reference  ${id.slice(0, 13)}
Email      müller\\\\u200b@example.de
Id         ${id}
Owner      ${SUB}
Received   ${time}
Language   de
Expires    2096-10-02 07:06:40 UTC
Answer     answered by Ben, 2026-11-20 10:00:00 UTC \\(\\d+d ago\\)
Mail       none can go to this address
Subject    Sub\\\\u001b\\[2Jject

  one
  \\\\u009b31mtwo

Reply

  Yes.\n$`,
      ),
    );
  });

  it('show, dismiss and reply name an inquiry that is not there, and all that one reference means', async () => {
    const { id: expired } = await add(1, { expires_at: 1 });
    const { id } = await add(1);
    const reference = id.slice(0, 13);
    const twin = await add(1, { id: `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}` });
    for (const verb of ['show', 'dismiss', 'reply']) {
      for (const absent of [INQUIRY.id, expired]) {
        const expected = failure(`There is no inquiry ${absent}.`);
        expect(await run([verb, absent], { stdin: 'text' })).toEqual(expected);
      }
      const { code, stderr } = await run([verb, reference], { stdin: 'text' });
      const ids = [id, twin.id].toSorted().toReversed().join(', ');
      expect([code, stderr]).toEqual([
        1,
        `More than one inquiry has the reference ${reference}: ${ids}.\n`,
      ]);
    }
    expect((await stored(id))?.reply_at).toBeUndefined();
  });

  it('dismiss and reply record one answer, and print who gave it', async () => {
    const row = await add(2);
    const { stdout } = await run(`dismiss ${row.id.slice(0, 13)} --as Ana`);
    const [result] = parseLines(stdout);
    expect(result).toEqual({ id: row.id, respondent: 'Ana', reply_at: result?.['reply_at'] });
    expect(await stored(row.id)).toEqual({ ...row, ...result });
    expect(await show(`show ${row.id}`)).toMatch(/^Answer {5}dismissed by Ana, .*\)$/m);
    const { code, stderr } = await run(`reply ${row.id}`, { stdin: 'late' });
    expect([code, stderr]).toEqual([3, containing('Already answered by Ana at 20')]);
    const { id } = await add(1);
    const file = join(table.folder, 'reply.txt');
    writeFileSync(file, '\uFEFFこんにちは\n');
    expect(await run(['reply', '--file', file, id])).toMatchObject({ code: 0 });
    const respondent = userInfo().username;
    expect(await stored(id)).toMatchObject({ reply: 'こんにちは', respondent });
  });

  it('reply refuses an empty text, one that is not UTF-8 and one that is too long', async () => {
    const row = await add(1, { body: 'b'.repeat(1_000) });
    const tooLong =
      'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';
    for (const [stdin, message, code = 2] of [
      [' \r\n\t', 'The reply is empty; nothing was changed.'],
      [
        Buffer.from([0x63, 0xe9]),
        'The reply cannot be read from standard input (it is not UTF-8).',
      ],
      ['ö'.repeat(204_801), tooLong],
      // The inquiry leaves less room.
      ['ö'.repeat(204_800), tooLong, 1],
    ] as const) {
      expect(await run(`reply ${row.id}`, { stdin })).toEqual(failure(message, code));
    }
    const place = table.folder;
    const unreadable = failure(`The reply cannot be read from ${place} (EISDIR).`, 2);
    expect(await run(['reply', row.id, '--file', place])).toEqual(unreadable);
    for (const line of [`reply ${row.id} --file`, '--web --replies']) {
      const { code, stderr } = await run(`${line} /dev/zero`);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/too long|larger than 1 MiB/)]);
    }
    expect(await stored(row.id)).toEqual(row);
  });

  describe('reply in an editor', () => {
    let folder: string;
    beforeEach(() => {
      folder = createFolder();
      vi.stubEnv('TMPDIR', folder);
      return () => void vi.unstubAllEnvs();
    });
    /** Runs the verb with a shell script as the editor, whose last argument is the file. @returns The text that is kept, too. */
    async function edit(id: string, script: string) {
      const editor = join(table.folder, 'my editor');
      writeFileSync(editor, `#!/bin/sh\nset -e\n${script}\n`, { mode: 0o755 });
      const env = { EDITOR: 'false', VISUAL: `'${editor}' --wait` };
      const result = await run(`reply ${id}`, { ...TERMINAL, env });
      const [, kept] = /^Your text is kept in (.*)$/m.exec(result.stderr) ?? [];
      return { ...result, kept: kept === undefined ? undefined : readFileSync(kept, 'utf8') };
    }

    it('shows the inquiry below a line, sends what is above it, and removes the file', async () => {
      const row = await add(1, { subject: 'S\u001b[2J', body: 'first\nsecond' });
      const copy = join(table.folder, 'seen.txt');
      const script = `cp -p "$2" '${copy}'; sed -i '3s/^/  Hello/; 5s/^/Olga/' "$2"`;
      expect(await edit(row.id, script)).toMatchObject({
        code: 0,
        stdout: `Answered ${row.id.slice(0, 13)} as ${userInfo().username}.\n`,
        stderr: '',
      });
      const [above, below] = readFileSync(copy, 'utf8').split(/^-+ >8 -+$/m);
      expect(above?.trim()).toBe('');
      expect(below).toContain(`\nEmail:    ${EMAIL}\nSubject:  S\\u001b[2J\n\n> first\n> second\n`);
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      expect(await stored(row.id)).toMatchObject({ reply: '  Hello\n\nOlga' });
      expect(readdirSync(folder)).toEqual([]);
    });

    it('sends nothing and keeps a text when something is wrong, and is not opened in vain', async () => {
      const row = await add(2);
      const { id: closed } = await add(1, ANSWER);
      const { id: unreachable } = await add(1, { email: 'müller@example.de' });
      const answer = async () => table.inbox.answer(row.id, { respondent: 'Ben' });
      const opened = join(table.folder, 'opened');
      for (const [id, script, code, message, kept] of [
        [closed, `touch '${opened}'`, 3, 'Already answered by Ben at 2026-11-20'],
        [unreachable, `touch '${opened}'`, 4, 'No mail can go to müller@example.de'],
        [row.id, ':', 2, 'The reply is empty; nothing was sent.'],
        [row.id, 'echo text > "$2"', 1, 'The line above the inquiry is missing', 'text\n'],
        [row.id, `sed -i '1s/^/mine/' "$2"; exit 1`, 1, 'The editor failed', 'mine\n'],
        [row.id, `sed -i '1s/^/mine/' "$2"`, 3, 'Already answered by Ben at ', 'mine\n'],
      ] as const) {
        const isLate = script.endsWith('"$2"') && code === 3;
        table.meet(
          onRequest('UpdateItem', (n) => (isLate && n === 0 ? beforehand(answer) : undefined)),
        );
        const result = await edit(id, script);
        expect([result.code, result.stderr]).toEqual([code, containing(message)]);
        expect(result.kept?.slice(0, 5)).toBe(kept);
        expect((await stored(row.id))?.reply_at === undefined).toBe(!isLate);
      }
      expect(readdirSync(table.folder)).not.toContain('opened');
      const none = 'There is no editor; set $EDITOR, or pass --file FILE or standard input.';
      expect(await run(`reply ${row.id}`, TERMINAL)).toEqual(failure(none, 2));
    });
  });

  describe('export', () => {
    it('prints CSV: a byte order mark, a header, CRLF, every text quoted, none a formula', async () => {
      const { id, created_at } = await add(1, {
        ...ANSWER,
        subject: 'a "b", c',
        body: '=x\r\ny',
        email: '@b',
      });
      expect((await run('export --csv')).stdout).toBe(
        '\uFEFF"id","cognito_sub","email","subject","body","created_at","language","email_verified","expires_at","reply","respondent","reply_at"\r\n' +
          `"${id}","${SUB}","'@b","a ""b"", c","'=x\ny","${created_at}",,,,"Yes.","Ben","${ANSWER.reply_at}"\r\n`,
      );
    });

    it('replaces a file by one that only its owner can read, when it is complete', async () => {
      table = await openInbox({ pageSize: 30 });
      await Promise.all(Array.from({ length: 60 }, (_, n) => add(n)));
      const place = createFolder();
      const out = join(place, 'export.jsonl');
      writeFileSync(out, 'old', { mode: 0o644 });
      const denied = refuse(400, 'AccessDeniedException');
      let pages = 0;
      table.meet(onRequest('Scan', (n) => ((pages = n) > 0 ? denied : undefined)));
      const { stderr, ...result } = await run(['export', '--out', out]);
      expect([result, pages]).toEqual([{ code: 1, stdout: '' }, 1]);
      expect(stderr).toMatch(/^The AWS credentials do not allow [^\n]*\n$/);
      expect([readdirSync(place), readFileSync(out, 'utf8')]).toEqual([['export.jsonl'], 'old']);
      table.meet(() => undefined);
      expect(await run(['export', '--out', out])).toMatchObject({
        code: 0,
        stderr: `60 inquiries in ${out}\n`,
      });
      expect(parseLines(readFileSync(out, 'utf8'))).toHaveLength(60);
      expect(statSync(out).mode & 0o777).toBe(0o600);
    });

    it('refuses a target that is not a regular file, or cannot be written, in one line', async () => {
      const link = join(table.folder, 'link');
      symlinkSync('/dev/null', link);
      const missing = join(table.folder, 'missing', 'export.csv');
      for (const [out, message, code] of [
        [table.folder, `--out ${table.folder} is not a regular file.`, 2],
        [link, `--out ${link} is not a regular file.`, 2],
        [missing, `${missing} cannot be written (ENOENT).`, 1],
      ] as const) {
        expect(await run(['export', '--csv', '--out', out])).toEqual(failure(message, code));
      }
      expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    });
  });

  it('stats counts in total and by week from Monday, the last ten, with the median of the answers', async () => {
    const none = { inquiries: 0, unanswered: 0, oldest_unanswered: null, median_seconds: null };
    expect(await rowsOf('stats')).toEqual([{ ...none, weeks: [] }]);
    /** Adds an inquiry that was answered after so many milliseconds. */
    const addAnswered = async (created: number, time: number | undefined) =>
      add(0, {
        id: UUID.fromFieldsV7(created, 1, 2, 3).toString(),
        created_at: new Date(created).toISOString(),
        ...(time !== undefined && { reply_at: new Date(created + time).toISOString() }),
      });
    // Monday 2026-08-31 and the Sunday after it, and so on.
    for (let week = 0; week < 12; week++) {
      await addAnswered(Date.UTC(2026, 7, 31 + week * 7), week === 0 ? undefined : week * 1_000);
      await addAnswered(Date.UTC(2026, 7, 38 + week * 7) - 1, week * 3_000);
    }
    const [result] = await rowsOf('stats');
    // Of 23 answers the one in the middle, of a week's two the mean.
    expect(result).toMatchObject({
      inquiries: 24,
      unanswered: 1,
      median_seconds: 9,
      oldest_unanswered: '2026-08-31T00:00:00.000Z',
      weeks: {
        length: 10,
        0: { week: '2026-11-16', inquiries: 2, unanswered: 0, median_seconds: 22 },
      },
    });
    expect(await show('stats')).toMatch(
      /^Unanswered {9}1 of 24 inquiries\nOldest unanswered {2}2026-08-31 00:00:00 UTC \(\d+d old\)\nMedian to answer {3}9s\n\nWEEK OF +INQUIRIES +UNANSWERED +MEDIAN\n2026-11-16 +2 +0 +22s\n/,
    );
  });

  it('names a table that is missing in one line, with what to do', async () => {
    stubAws(toEnvironment(table.engine));
    writeState(table.folder, table.engine, 'gone');
    for (const [line, message] of [
      ['list', 'The table of the local stack does not exist; restart the stack with npm start.'],
      ['list --table restored --erasures e', 'The table restored does not exist.'],
      [
        'list --stage release --service shop',
        'The table shop-release does not exist in this account and region; deploy the stage: npm run deploy -- release.',
      ],
    ] as const) {
      const place = line.includes('--stage') ? [] : ['--data', table.folder];
      expect(await runInbox([...place, ...line.split(' ')])).toEqual(failure(message));
    }
  });

  describe('on a stage', () => {
    /** What STS answers. */
    async function signIn(body: string, status = 200): Promise<void> {
      const { answers } = await startStage(table.engine);
      answers['GetCallerIdentity'] = () => ({ status, body });
    }
    const identity = (arn: string) =>
      `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${arn}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`;
    const runOnStage = (args: string[], stdin = '') =>
      runInbox(['--stage', 'develop', '--table', table.name, '--erasures', 'e', ...args], {
        stdin,
      });

    it.each([
      ['sts::111122223333:assumed-role/support/ana@example.com', 'ana@example.com'],
      ['iam::111122223333:root', 'root'],
    ])('answers as the user of the credentials, and says on which table: %s', async (arn, name) => {
      const { id } = await add(1);
      await signIn(identity(`arn:aws:${arn}`));
      const { code, stdout, stderr } = await runOnStage(['reply', id], 'Yes.');
      const place = `Table ${table.name} of develop, answered by ${name}\n`;
      expect({ code, stderr }).toEqual({ code: 0, stderr: place });
      expect(parseLines(stdout)).toMatchObject([{ id, respondent: name }]);
    });

    it('reads without asking who the credentials belong to, and stores nothing when they are refused', async () => {
      const { id } = await add(1);
      stubAws(toEnvironment(table.engine));
      expect(parseLines((await runOnStage(['list'])).stdout)).toMatchObject([{ id }]);
      const error = '<Type>Sender</Type><Code>ExpiredToken</Code><Message>secret</Message>';
      await signIn(`<ErrorResponse><Error>${error}</Error></ErrorResponse>`, 403);
      expect(await runOnStage(['reply', id], 'x')).toEqual(failure(NO_CREDENTIALS));
      expect((await stored(id))?.reply_at).toBeUndefined();
    });
  });
});

describe('the command line', () => {
  it.each([
    ['', /^The verb is missing, e\.g\. /],
    ['\u001b[2J', /^"\\u001b\[2J" is not a verb/],
    ['toString', /^"toString" is not a verb; verbs are list, show, reply, /],
    ['lst', /^"lst" is not a verb; did you mean list\?/],
    ['help exprt', /^"exprt" is not a verb; did you mean export\?/],
    ['--bogus list', /^Unknown option '--bogus'/],
    ['list --stage', /^Option '--stage <value>' argument missing/],
    ['list --file x', /^--file is no option of list/],
    ['list extra', /^list takes options only/],
    ['list --stage prod', /^"prod" is not a stage; stages are develop, main, release\./],
    ['list --table x', /^--table and --erasures belong together/],
    ['list --service shop', /^--service is for a stage/],
    ['list --stage main --service shop-main', /^"shop-main" is not the name of a service/],
    ['list --stage main --as x', /^--as is for the local stack/],
    ['list --stage main --data x', /^--data is for the local stack/],
    ['list --data /nowhere', /^No local stack is running \(there is no /],
    ['list --limit 0', /^--limit must be a positive whole number/],
    ['list --order up', /^--order must be newest or oldest/],
    ['list --since yesterday', /^--since must be an age/],
    ['export --json --csv', /^--json and --csv exclude each other/],
    ['export --sub \u001b[2J', /^--sub must be a UUID, not "\\u001b\[2J"/],
    ['show', /^show takes the id or reference of one inquiry/],
    ['show x', /^ID must be an id or a reference, not "x"/],
    ['--web --port 65536', /^The port must be a number from 0 to 65535, not "65536"\./],
    ['--web --replies /nowhere', /^The saved replies in \/nowhere cannot be used: ENOENT\./],
    ['--web --replies LICENSE', /cannot be used: it is not JSON\./],
    ['--web --replies package.json', /cannot be used: it is not a list\./],
    [`erase --sub ${SUB} --email a@b`, /^erase takes one of --sub UUID, --email E and --replay/],
  ])('%j is refused in one line with exit code 2', async (line, message) => {
    const args = line.split(' ').filter((word) => word !== '');
    const { code, stdout, stderr } = await runInbox(args, { stdin: 'x' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^[^\p{Cc}]*\n$/u);
  });

  it.each(['', 'list', 'show', 'reply', 'dismiss', 'export', 'erase', 'stats', '--web'])(
    'the usage of %j is printed without a running stack, in 80 columns',
    async (verb) => {
      const args = verb === '' ? [] : [verb];
      const { stdout, ...result } = await runInbox(['help', ...args]);
      expect(result).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: npm run inbox -- [--stage STAGE] ${verb || 'VERB'} `);
      expect(stdout.split('\n').filter(({ length }) => length > 80)).toEqual([]);
      expect(await runInbox(['--data', '/nowhere', ...args, '--help'])).toMatchObject({ stdout });
    },
  );

  it('says in one line what is missing of AWS, or that the local stack cannot be reached', async () => {
    const nowhere = 'http://127.0.0.1:9';
    for (const [variables, line] of [
      [{}, 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
      [{ AWS_REGION: 'eu-central-1' }, NO_CREDENTIALS],
      [toEnvironment(nowhere), 'AWS cannot be reached (ECONNREFUSED).'],
    ] as const) {
      stubAws(variables);
      expect(await runInbox(['--stage', 'develop', 'list'])).toEqual(failure(line));
    }
    const data = createFolder();
    writeState(data, nowhere, 't');
    const line = 'The engine of the local stack cannot be reached (ECONNREFUSED).';
    expect(await runInbox(['--data', data, 'list'])).toEqual(failure(line));
  });
});
