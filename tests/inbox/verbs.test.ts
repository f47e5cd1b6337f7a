/** `npm run inbox`: exit code, standard output and standard error of each verb; `erase` has a file of its own. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { UUID } from 'uuidv7';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredInquiry } from '../../inbox/store.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { refuse } from '../helpers/fault-proxy.ts';
import { beforehand, createFolder, openInbox, parseLines, runInbox } from '../helpers/inbox.ts';
import { startStage, stubAws, writeState } from '../helpers/inbox.ts';
import { toEnvironment } from '../helpers/own-table.ts';

process.env['TZ'] = 'UTC';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TERMINAL = { isTTY: true, columns: 100 };
const NO_CREDENTIALS =
  'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';
const OTHER = '2f0d2c3b-4a59-4687-9a5b-c6d7e8f90a1b';
const ANSWER = { reply: 'Yes.', respondent: 'Ben', reply_at: '2026-11-20T10:00:00.000Z' };

let table: Awaited<ReturnType<typeof openInbox>>;
let run: (typeof table)['run'];
let add: (typeof table)['add'];
const stored = (id: string) => table.inbox.get(id);
const summaryOf = ({ body: _body, reply: _reply, ...row }: StoredInquiry) => row;
const idsOf = (stdout: string) => parseLines(stdout).map(({ id }) => id);
/** What a verb that fails in one line exits with and prints. */
const failure = (stderr: string, code = 1) => ({ code, stdout: '', stderr: `${stderr}\n` });

describe('with a table', () => {
  beforeEach(async () => {
    table = await openInbox();
    ({ run, add } = table);
  });

  describe('list', () => {
    it('prints one JSON object a line into a pipe, the oldest unanswered one first', async () => {
      expect(await run(['list'])).toEqual({ code: 0, stdout: '', stderr: '' });
      const rows = [await add(3_000), await add(2_000, ANSWER), await add(1_000)];
      const { code, stdout, stderr } = await run(['list']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parseLines(stdout)).toEqual([rows[0], rows[2]].map((row) => row && summaryOf(row)));
      expect(await run(['list', '--json'], TERMINAL)).toEqual({ code, stdout, stderr });
    });

    it('prints a table at a terminal, shows what is invisible, and marks what expires within seven days', async () => {
      expect((await run(['list'], TERMINAL)).stdout).toBe('No unanswered inquiries.\n');
      expect((await run(['list', '--all'], TERMINAL)).stdout).toBe('There are no inquiries.\n');
      const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400 + 60;
      const near = await add(3 * HOUR, {
        expires_at,
        subject: '注文Hi\u{E0041}',
        email: 'ana\u200B@b.example',
      });
      const far = await add(2 * DAY, { expires_at: expires_at + 30 * 86_400, subject: ' \n' });
      const [head, ...lines] = [
        `REFERENCE      AGE  EXPIRES  EMAIL                SUBJECT`,
        String.raw`${near.id.slice(0, 13)}  3h   in 3d    ana\u200b@b.example  注文Hi\udb40\udc41`,
        `${far.id.slice(0, 13)}  2d            ana@example.com      (no subject)`,
      ];
      const printed = (...rows: (string | undefined)[]) => ({
        code: 0,
        stdout: `${rows.join('\n')}\n`,
      });
      expect(await run(['list'], TERMINAL)).toMatchObject(printed(head, ...lines.toReversed()));
      expect(await run(['list', '--order', 'newest'], TERMINAL)).toMatchObject(
        printed(head, ...lines),
      );
      const none = 'No unanswered inquiries with this text.';
      expect(await run(['list', '--text', 'zz'], TERMINAL)).toMatchObject(printed(none));
    });

    it('says who answered, what could not be delivered, as show does, and how many more there are', async () => {
      const reply_at = new Date(Date.now() - 2 * DAY).toISOString();
      for (let n = 3; n > 1; n--) await add(n * HOUR, { ...ANSWER, reply_at });
      const { id } = await add(HOUR, { ...ANSWER, reply_at });
      const state = { undelivered: 'bounce', undelivered_at: ANSWER.reply_at } as const;
      await table.deliveries.put({ inquiry: id, mail: 'reply', ...state, expires_at: 0 }).go();
      const { stdout } = await run(['list', '--all', '--limit', '2'], TERMINAL);
      expect(stdout).toContain('  bounced! Ben, 2d ago  ana@example.com  s\n');
      expect(stdout).toContain('  Ben, 2d ago           ana@example.com  s\n');
      expect(stdout.split('\n')).toHaveLength(5);
      expect(stdout).toContain('The newest 2 of 3 inquiries; --limit N shows more.\n');
      const shown =
        /^Mail {7}the reply could not be delivered: bounced, 2026-11-20 10:00:00 UTC \(/m;
      expect((await run(['show', id], TERMINAL)).stdout).toMatch(shown);
      for (const command of ['list --all --limit 1', `show ${id}`]) {
        expect(parseLines((await run(command.split(' '))).stdout)).toMatchObject([
          { id, ...state },
        ]);
      }
    });
  });

  it('list and export filter, and list limits', async () => {
    const rows = [
      await add(DAY, ANSWER),
      await add(HOUR, { email: 'b@example.com', cognito_sub: OTHER, body: 'Größe' }),
      await add(1_000, { email: 'new@example.com', language: 'de' }),
    ];
    for (const [command, expected] of [
      ['list --all', [2, 1, 0]],
      ['list --email b@example.com', [1]],
      ['list --since 30m', [2]],
      [`list --sub ${OTHER}`, [1]],
      ['list --limit 1', [1]],
      ['list --order newest --limit 1', [2]],
      ['list --text GRÖẞE', [1]],
      ['list --all --text ana', [0]],
      ['export --email b@example.com', [1]],
      [`export --sub ${SUB.toUpperCase()}`, [2, 0]],
      [`export --sub ${SUB} --email ${EMAIL} --since 2h`, []],
    ] as const) {
      const { stdout } = await run(command.split(' '));
      const ids = expected.map((n) => rows[n]?.id);
      const isExport = command.startsWith('export');
      expect([command, isExport ? new Set(idsOf(stdout)) : idsOf(stdout)]).toEqual([
        command,
        isExport ? new Set(ids) : ids,
      ]);
    }
  });

  describe('show', () => {
    it('prints all of it as JSON into a pipe, found by id or reference', async () => {
      const row = await add(1, { ...ANSWER, expires_at: 4_000_000_000 });
      const reference = row.id.slice(0, 13);
      for (const id of [
        row.id.toUpperCase(),
        reference,
        reference.toUpperCase().replace('-', ''),
      ]) {
        const { code, stdout } = await run(['show', id]);
        expect({ code, rows: parseLines(stdout) }).toEqual({ code: 0, rows: [row] });
      }
    });

    it('prints text at a terminal', async () => {
      const texts = {
        subject: 'Sub\u001b[2Jject',
        body: 'one\n\u009b31mtwo',
        expires_at: 4_000_000_000,
      };
      const row = await add(DAY, {
        ...ANSWER,
        ...texts,
        email: 'müller\u200B@example.de',
        language: 'de',
      });
      const { stdout } = await run(['show', row.id], TERMINAL);
      expect(stdout).toContain('\nExpires    2096-10-02 07:06:40 UTC\n');
      const [reference, id] = [`Reference  ${row.id.slice(0, 13)}\n`, `Id         ${row.id}\n`];
      const owner = `Email      müller\\u200b@example.de\nOwner      ${SUB}\nLanguage   de\n`;
      expect(stdout).toContain(`${reference}${id}${owner}Created    20`);
      expect(stdout).toContain('\nMail       none can go to this address\n');
      expect(stdout).toContain(String.raw`Subject    Sub\u001b[2Jject`);
      expect(stdout).toContain('\n\n  one\n  \\u009b31mtwo\n\nReply\n\n  Yes.\n');
      expect(stdout).toMatch(/^Answer {5}answered by Ben, 2026-11-20 10:00:00 UTC \(\d+\w ago\)$/m);
    });
  });

  describe.each(['show', 'dismiss', 'reply'])('%s', (verb) => {
    it('says in one line that there is no such inquiry, or that it has expired', async () => {
      const { id: expired } = await add(1, { expires_at: 1 });
      for (const id of [INQUIRY.id, expired]) {
        expect(await run([verb, id], { stdin: 'text' })).toEqual(
          failure(`There is no inquiry ${id}.`),
        );
      }
    });

    it('names the inquiries of a reference that more than one has, and answers none', async () => {
      const { id } = await add(1);
      const other = await add(1, { id: `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}` });
      const { code, stdout, stderr } = await run([verb, id.slice(0, 13)], { stdin: 'text' });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`More than one inquiry has the reference ${id.slice(0, 13)}: `);
      for (const each of [id, other.id]) expect(stderr).toContain(each);
      expect((await stored(id))?.reply_at).toBeUndefined();
    });
  });

  it('dismiss marks an inquiry as answered without a reply, and takes a reference', async () => {
    const row = await add(1);
    const { code, stdout } = await run([
      'dismiss',
      row.id.slice(0, 13).toUpperCase(),
      '--as',
      'Ana',
    ]);
    const [result] = parseLines(stdout);
    expect({ code, result }).toMatchObject({ code: 0, result: { id: row.id, respondent: 'Ana' } });
    expect(await stored(row.id)).toEqual({
      ...row,
      respondent: 'Ana',
      reply_at: result?.['reply_at'],
    });
    const { stdout: shown } = await run(['show', row.id], TERMINAL);
    expect(shown).toMatch(/^Answer {5}dismissed by Ana, .* ago\)$/m);
  });

  describe('reply', () => {
    it('takes the text from standard input, and prints who answered and when', async () => {
      const { id } = await add(1);
      const stdin = 'Dear Ben,\r\n\r\nyes.\r\n\r\n';
      const { code, stdout, stderr } = await run(['reply', id, '--as', 'Ana B.'], { stdin });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const row = await stored(id);
      expect(row).toMatchObject({ reply: 'Dear Ben,\n\nyes.', respondent: 'Ana B.' });
      expect(Math.abs(Date.parse(row?.reply_at ?? '') - Date.now())).toBeLessThan(60_000);
      expect(parseLines(stdout)).toEqual([{ id, respondent: 'Ana B.', reply_at: row?.reply_at }]);
    });

    it.each(['reply', 'dismiss'])(
      'exits with 3 when someone else has answered, as %s does',
      async (verb) => {
        const row = await add(DAY, ANSWER);
        const expected = failure('Already answered by Ben at 2026-11-20 10:00:00 UTC.', 3);
        expect(await run([verb, row.id], { stdin: 'No.' })).toEqual(expected);
        expect(await stored(row.id)).toEqual(row);
      },
    );

    it('exits with 4 when no mail can go to the owner, and records the answer with --anyway', async () => {
      const row = await add(1, { email: 'müller@example.de' });
      const line =
        'No mail can go to müller@example.de, so nothing was changed; answer elsewhere, or record the answer with --anyway.';
      expect(await run(['reply', row.id], { stdin: 'Yes.' })).toEqual(failure(line, 4));
      expect(await stored(row.id)).toEqual(row);
      expect(await run(['reply', row.id, '--anyway'], { stdin: 'Yes.' })).toMatchObject({
        code: 0,
      });
      expect(await stored(row.id)).toMatchObject({ reply: 'Yes.' });
      const { id } = await add(1, { email: 'ana@bücher.example' });
      expect(await run(['reply', id], { stdin: 'Yes.' })).toMatchObject({ code: 0 });
    });

    it('takes the text from a file, and the respondent is the user of the operating system', async () => {
      const { id } = await add(1);
      const file = join(table.folder, 'reply.txt');
      writeFileSync(file, '\uFEFFこんにちは\n');
      expect(await run(['reply', '--file', file, id])).toMatchObject({ code: 0 });
      expect(await stored(id)).toMatchObject({
        reply: 'こんにちは',
        respondent: userInfo().username,
      });
    });

    const EMPTY = 'The reply is empty; nothing was changed.';
    const TOO_LONG =
      'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.';
    const NOT_UTF_8 = 'The reply cannot be read from standard input (it is not UTF-8).';
    it.each([
      ['white space', ' \r\n\t', EMPTY, 2],
      ['what is not UTF-8', Buffer.from([0x63, 0xe9]), NOT_UTF_8, 2],
      ['more than 400 KB', 'ö'.repeat(204_801), TOO_LONG, 2],
      ['more than the inquiry leaves room for', 'ö'.repeat(204_800), TOO_LONG, 1],
    ])('refuses %s', async (_, stdin, stderr, code) => {
      const row = await add(1, { body: 'b'.repeat(1_000) });
      expect(await run(['reply', row.id], { stdin })).toEqual(failure(stderr, code));
      expect(await stored(row.id)).toEqual(row);
    });

    it.each([
      ['reply', INQUIRY.id, '--file'],
      ['--web', '--replies'],
    ])('%s reads only so much of a file without an end', async (...args) => {
      const { code, stderr } = await run([...args, '/dev/zero']);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/too long|larger than 1 MiB/)]);
    });

    it('names a file that cannot be read', async () => {
      const { folder } = table;
      const expected = failure(`The reply cannot be read from ${folder} (EISDIR).`, 2);
      expect(await run(['reply', INQUIRY.id, '--file', folder])).toEqual(expected);
    });
  });

  describe('reply in an editor', () => {
    let folder: string;
    beforeEach(() => {
      folder = createFolder();
      vi.stubEnv('TMPDIR', folder);
      return () => void vi.unstubAllEnvs();
    });
    /** Runs the verb with a shell script as the editor, whose last argument is the file. */
    async function edit(id: string, script: string) {
      const editor = join(mkdtempSync(join(table.folder, 'editor-')), 'my editor');
      writeFileSync(editor, `#!/bin/sh\nset -e\n${script}\n`);
      chmodSync(editor, 0o755);
      const env = { EDITOR: 'false', VISUAL: `'${editor}' --wait` };
      return run(['reply', id], { ...TERMINAL, env });
    }
    const keptIn = (stderr: string) => /^Your text is kept in (.*)$/m.exec(stderr)?.[1];

    it('shows the inquiry below a line, sends what is above it, and removes the file', async () => {
      const row = await add(1, { subject: 'S\u001b[2J', body: 'first\nsecond' });
      const copy = join(table.folder, 'seen.txt');
      const result = await edit(
        row.id,
        `cp "$2" '${copy}'; stat -c %a "$2" > '${copy}.mode'; { printf 'Hello\\n\\n'; cat '${copy}'; } > "$2"`,
      );
      const stdout = `Answered ${row.id.slice(0, 13)} as ${userInfo().username}.\n`;
      expect(result).toEqual({ code: 0, stdout, stderr: '' });
      const [above, below] = readFileSync(copy, 'utf8').split(/^-+ >8 -+$/m);
      expect(above?.trim()).toBe('');
      expect(below).toContain(
        '\nEmail:    ana@example.com\nSubject:  S\\u001b[2J\n\n> first\n> second\n',
      );
      expect(readFileSync(`${copy}.mode`, 'utf8')).toBe('600\n');
      expect(await stored(row.id)).toMatchObject({ reply: 'Hello' });
      expect(readdirSync(folder)).toEqual([]);
    });

    it('sends the lines that were written, without the empty ones before them', async () => {
      const { id } = await add(1);
      expect(await edit(id, `sed -i '3s/^/  Hello/; 5s/^/Olga/' "$2"`)).toMatchObject({ code: 0 });
      expect(await stored(id)).toMatchObject({ reply: '  Hello\n\nOlga' });
    });

    const NO_LINE = 'The line above the inquiry is missing; nothing was sent.\n';
    const FAILED = 'The editor failed; nothing was sent.\n';
    it.each([
      ['left as it was', ':', 2, 'The reply is empty; nothing was sent.\n'],
      ['without the line', 'echo text > "$2"', 1, NO_LINE],
      ['of an editor that fails', `sed -i '1s/^/text/' "$2"; exit 1`, 1, FAILED],
    ])('sends nothing from a file %s, and keeps a text', async (_, script, code, message) => {
      const row = await add(1);
      const { stderr, ...result } = await edit(row.id, script);
      expect(result).toEqual({ code, stdout: '' });
      expect(stderr).toContain(message);
      expect(await stored(row.id)).toEqual(row);
      const kept = keptIn(stderr);
      const texts = kept === undefined ? [] : [readFileSync(kept, 'utf8').slice(0, 4)];
      expect(texts).toEqual(code === 2 ? [] : ['text']);
    });

    it('keeps the text when someone else answers while it is written', async () => {
      const { id } = await add(1);
      const answer = beforehand(() =>
        table.inbox.answer(id, { reply: 'other', respondent: 'Ben' }),
      );
      let updates = 0;
      table.meet((_, operation) =>
        operation === 'UpdateItem' && ++updates === 1 ? answer : undefined,
      );
      const { code, stderr } = await edit(id, `sed -i '1s/^/mine/' "$2"`);
      expect(code).toBe(3);
      expect(stderr).toContain('Already answered by Ben at ');
      expect(readFileSync(keptIn(stderr) ?? '', 'utf8')).toMatch(/^mine\n/);
    });

    it('is not opened when someone else has answered, no mail can go to the owner, or without an editor', async () => {
      const { id } = await add(1, ANSWER);
      const { id: other } = await add(1, { email: 'müller@example.de' });
      const opened = join(table.folder, 'opened');
      expect(await edit(id, `touch '${opened}'`)).toMatchObject({ code: 3 });
      expect(await edit(other, `touch '${opened}'`)).toMatchObject({ code: 4 });
      expect(existsSync(opened)).toBe(false);
      const noEditor = 'There is no editor; set $EDITOR, or pass --file FILE or standard input.';
      expect(await run(['reply', id], TERMINAL)).toEqual(failure(noEditor, 2));
    });
  });

  describe('export', () => {
    it('prints everything with bodies and answers, exactly as it is stored, and nothing that controls a terminal', async () => {
      const rows = [
        await add(DAY, ANSWER),
        await add(2, { body: '=1\r\n\u001b[2J\u202E', subject: '' }),
      ];
      const { code, stdout, stderr } = await run(['export']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parseLines(stdout)).toEqual(expect.arrayContaining(rows));
      expect((await run(['export', '--json'], TERMINAL)).stdout).toBe(stdout);
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    });

    it('prints CSV: a byte order mark, a header, CRLF, every text quoted, none a formula', async () => {
      const { id, created_at } = await add(1, {
        ...ANSWER,
        subject: 'a "b", c',
        body: '=x\r\ny',
        email: '@b',
      });
      const { stdout } = await run(['export', '--csv']);
      expect(stdout).toBe(
        '\uFEFF"id","cognito_sub","email","subject","body","created_at","language","email_verified","expires_at","reply","respondent","reply_at"\r\n' +
          `"${id}","${SUB}","'@b","a ""b"", c","'=x\ny","${created_at}",,,,"Yes.","Ben","${ANSWER.reply_at}"\r\n`,
      );
    });

    it('writes a file that only its owner can read, and replaces one that is there', async () => {
      const row = await add(1);
      const out = join(table.folder, 'export.jsonl');
      writeFileSync(out, 'old', { mode: 0o644 });
      const stderr = `1 inquiry in ${out}\n`;
      expect(await run(['export', '--out', out])).toEqual({ code: 0, stdout: '', stderr });
      expect(parseLines(readFileSync(out, 'utf8'))).toEqual([row]);
      expect(statSync(out).mode & 0o777).toBe(0o600);
    });

    it('leaves the old file, and no part of a new one, when reading fails', async () => {
      table = await openInbox({ pageSize: 30 });
      ({ run, add } = table);
      await Promise.all(Array.from({ length: 60 }, (_, n) => add(n)));
      const place = createFolder();
      const out = join(place, 'export.jsonl');
      writeFileSync(out, 'old');
      let pages = 0;
      table.meet((_, operation) =>
        operation === 'Scan' && ++pages > 1 ? refuse(400, 'AccessDeniedException') : undefined,
      );
      const { stderr, ...result } = await run(['export', '--out', out]);
      expect(result).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^The AWS credentials do not allow [^\n]*\n$/);
      expect(pages).toBe(2);
      expect(readdirSync(place)).toEqual(['export.jsonl']);
      expect(readFileSync(out, 'utf8')).toBe('old');
    });

    it('refuses a target that is not a regular file, or cannot be written, in one line', async () => {
      const link = join(table.folder, 'link');
      symlinkSync('/dev/null', link);
      for (const [out, code, message] of [
        [table.folder, 2, 'is not a regular file.'],
        [link, 2, 'is not a regular file.'],
        [join(table.folder, 'missing', 'export.csv'), 1, 'cannot be written (ENOENT).'],
      ] as const) {
        const expected = failure(`${code === 2 ? '--out ' : ''}${out} ${message}`, code);
        expect(await run(['export', '--csv', '--out', out])).toEqual(expected);
      }
      expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    });
  });

  describe('stats', () => {
    /** Adds an inquiry that was answered after so many milliseconds. */
    const addAnswered = async (created: number, time: number | undefined) =>
      add(0, {
        id: UUID.fromFieldsV7(created, 1, 2, 3).toString(),
        created_at: new Date(created).toISOString(),
        ...(time !== undefined && {
          respondent: 'R',
          reply_at: new Date(created + time).toISOString(),
        }),
      });

    it('counts in total and by week from Monday, the last ten, with the median of the answers', async () => {
      const none = { inquiries: 0, unanswered: 0, oldest_unanswered: null, median_seconds: null };
      expect(parseLines((await run(['stats'])).stdout)).toEqual([{ ...none, weeks: [] }]);
      for (let week = 0; week < 12; week++) {
        // Monday 2026-08-31 and the Sunday after it, and so on.
        const [monday, sunday] = [
          Date.UTC(2026, 7, 31 + week * 7),
          Date.UTC(2026, 7, 38 + week * 7) - 1,
        ];
        await addAnswered(monday, week === 0 ? undefined : week * 1_000);
        await addAnswered(sunday, week * 3_000);
      }
      const [result] = parseLines((await run(['stats'])).stdout) as [{ weeks: { week: string }[] }];
      // Of 23 answers the one in the middle, of a week's two the mean.
      expect(result).toMatchObject({ inquiries: 24, unanswered: 1, median_seconds: 9 });
      expect(result).toMatchObject({ oldest_unanswered: '2026-08-31T00:00:00.000Z' });
      expect(result.weeks).toHaveLength(10);
      const newest = { week: '2026-11-16', inquiries: 2, unanswered: 0, median_seconds: 22 };
      expect(result.weeks[0]).toEqual(newest);
    });

    it('prints text at a terminal', async () => {
      await addAnswered(Date.now(), 2 * HOUR);
      await addAnswered(Date.now() - 60_000, undefined);
      const { stdout } = await run(['stats'], TERMINAL);
      expect(stdout).toMatch(
        /^Unanswered {9}1 of 2 inquiries\nOldest unanswered {2}20.* UTC \(1m old\)\n/,
      );
      expect(stdout).toMatch(
        /^Median to answer {3}2h\n\nWEEK OF +INQUIRIES +UNANSWERED +MEDIAN\n/m,
      );
    });
  });

  describe('a table', () => {
    it('that does not exist is named in one line', async () => {
      await table.client.send(new DeleteTableCommand({ TableName: table.name }));
      stubAws(toEnvironment(table.engine));
      const local =
        'The table of the local stack does not exist; restart the stack with npm start.';
      expect(await run(['list'])).toEqual(failure(local));
      const restored = 'The table restored does not exist.';
      expect(await run(['list', '--table', 'restored', '--erasures', 'e'])).toEqual(
        failure(restored),
      );
      const release =
        'The table shop-release does not exist in this account and region; deploy the stage: npm run deploy -- release.';
      expect(await runInbox(['list', '--stage', 'release', '--service', 'shop'])).toEqual(
        failure(release),
      );
    });
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

    it('answers as the user of the credentials, and says on standard error on which table', async () => {
      const { id } = await add(1);
      await signIn(identity('arn:aws:sts::111122223333:assumed-role/support/ana@example.com'));
      const { code, stdout, stderr } = await runOnStage(['reply', id], 'Yes.');
      const place = `Table ${table.name} of develop, answered by ana@example.com\n`;
      expect({ code, stderr }).toEqual({ code: 0, stderr: place });
      expect(parseLines(stdout)).toMatchObject([{ id, respondent: 'ana@example.com' }]);
      const again = await runOnStage(['dismiss', id]);
      expect(again.code).toBe(3);
      expect(again.stderr).toMatch(/\nAlready answered by ana@example.com at .*\n$/);
    });

    it('reads without asking who the credentials belong to', async () => {
      const row = await add(1);
      stubAws(toEnvironment(table.engine));
      const { code, stdout, stderr } = await runOnStage(['list']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parseLines(stdout)).toEqual([summaryOf(row)]);
    });

    it('answers as root with the credentials of root', async () => {
      const { id } = await add(1);
      await signIn(identity('arn:aws:iam::111122223333:root'));
      expect(parseLines((await runOnStage(['dismiss', id])).stdout)).toMatchObject([
        { respondent: 'root' },
      ]);
    });

    it('stores nothing when the credentials are refused', async () => {
      const row = await add(1);
      const error = '<Type>Sender</Type><Code>ExpiredToken</Code><Message>secret</Message>';
      await signIn(`<ErrorResponse><Error>${error}</Error></ErrorResponse>`, 403);
      expect(await runOnStage(['reply', row.id], 'x')).toEqual(failure(NO_CREDENTIALS));
      expect(await stored(row.id)).toEqual(row);
    });
  });
});

describe('the command line', () => {
  it.each([
    [[], /^The verb is missing, e\.g\. /],
    [['\u001b[2J'], /^"\\u001b\[2J" is not a verb/],
    [['toString'], /^"toString" is not a verb; verbs are list, show, reply, /],
    [['--bogus', 'list'], /^Unknown option '--bogus'/],
    [['list', 'extra'], /^Unexpected argument 'extra'/],
    [['list', '--stage'], /^Option '--stage <value>' argument missing/],
    [['list', '--stage', 'prod'], /^"prod" is not a stage; stages are develop, main and release\./],
    [['list', '--table', 'x'], /^--table and --erasures belong together/],
    [['list', '--erasures', 'x'], /^--table and --erasures belong together/],
    [['list', '--service', 'shop'], /^--service is for a stage/],
    [
      ['list', '--stage', 'main', '--service', 'shop-main'],
      /^"shop-main" is not the name of a service/,
    ],
    [['list', '--stage', 'main', '--as', 'x'], /^--as is for the local stack/],
    [['list', '--stage', 'main', '--data', 'x'], /^--data is for the local stack/],
    [['list', '--limit', '0'], /^--limit must be a positive whole number/],
    [['list', '--order', 'up'], /^--order must be newest or oldest/],
    [['lst'], /^"lst" is not a verb; did you mean list\?/],
    [['help', 'exprt'], /^"exprt" is not a verb; did you mean export\?/],
    [['list', '--since', 'yesterday'], /^--since must be an age/],
    [['export', '--json', '--csv'], /^--json and --csv exclude each other/],
    [['export', '--sub', '\u001b[2J'], /^--sub must be a UUID, not "\\u001b\[2J"/],
    [['show'], /^The id or reference of an inquiry is missing/],
    [['show', 'x'], /^ID must be an id or a reference, not "x"/],
    [['reply', INQUIRY.id, INQUIRY.id], /^reply takes one id, not 2/],
    [['list', '--data', '/nowhere'], /^No local stack is running \(there is no /],
    [['--web', '--port', 'x'], /^The port must be a number from 0 to 65535, not "x"\./],
    [['--web', '--port', '65536'], /^The port must be a number from 0 to 65535, not "65536"\./],
    [
      ['--web', '--replies', '/nowhere'],
      /^The saved replies in \/nowhere cannot be used: ENOENT\./,
    ],
    [['--web', '--replies', 'LICENSE'], /cannot be used: it is not JSON\./],
    [['--web', '--replies', 'package.json'], /cannot be used: it is not a list\./],
    [['list', '--replies', 'x'], /^--replies is for --web\./],
    [['--web', 'list'], /^--web takes no verb\./],
    [['list', '--port', '5'], /^--port is the port of --web\./],
    [
      ['erase', '--sub', SUB, '--email', 'a@b'],
      /^erase takes one of --sub UUID, --email E and --replay/,
    ],
    [['erase'], /^erase takes one of --sub UUID, --email E and --replay \(see --help\)/],
  ])('%j is refused in one line with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await runInbox(args, { stdin: 'x' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^[^\p{Cc}]*\n$/u);
  });

  it.each(['VERB', 'list', 'show', 'reply', 'dismiss', 'export', 'erase', 'stats'])(
    'the usage of %s is printed without a running stack, in 80 columns',
    async (verb) => {
      const args = verb === 'VERB' ? [] : [verb];
      const { stdout, ...result } = await runInbox(['help', ...args]);
      expect(result).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: npm run inbox -- [--stage STAGE] ${verb} `);
      expect(stdout.split('\n').filter(({ length }) => length > 80)).toEqual([]);
      expect(await runInbox(['--data', '/nowhere', ...args, '--help'])).toMatchObject({ stdout });
    },
  );

  it.each([
    [{}, 'There is no AWS region; set AWS_REGION or AWS_PROFILE.'],
    [{ AWS_REGION: 'eu-central-1' }, NO_CREDENTIALS],
    [toEnvironment('http://127.0.0.1:9'), 'AWS cannot be reached (ECONNREFUSED).'],
  ])('a stage with %o: %s', async (variables, line) => {
    stubAws(variables);
    expect(await runInbox(['--stage', 'develop', 'list'])).toEqual(failure(line));
  });

  it('says in one line that the engine of the local stack cannot be reached', async () => {
    const data = createFolder();
    writeState(data, 'http://127.0.0.1:9', 't');
    const line = 'The engine of the local stack cannot be reached (ECONNREFUSED).';
    expect(await runInbox(['--data', data, 'list'])).toEqual(failure(line));
  });
});
