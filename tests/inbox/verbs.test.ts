/** `npm run inbox` as a process: exit codes, standard output and standard error of each verb, on both engines. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CreateTableCommand, DeleteTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { UUID } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInbox } from '../../inbox/store.ts';
import type { StoredInquiry } from '../../inbox/store.ts';
import { ROOT } from '../../lib/paths.ts';
import { close, listen } from '../../lib/loopback-server.ts';
import { tableDefinition } from '../../local/database/table.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import { describeOnEngines } from '../helpers/engines.ts';
import { EMAIL, INQUIRY, SUB } from '../helpers/events.ts';
import { cutConnection, first, hang, refuse, startFaultProxy } from '../helpers/fault-proxy.ts';
import { HOSTILE_TEXTS } from '../helpers/hostile-texts.ts';
import { writeIdempotencyKey } from '../helpers/idempotency.ts';
import { createOwnTable } from '../helpers/own-table.ts';

const noTerminal = spawnSync('script', ['--version']).stdout?.includes('util-linux')
  ? undefined
  : 'the `script` command of util-linux is missing';
if (noTerminal !== undefined)
  process.stdout.write(`\nSKIPPED: the inbox at a terminal, because ${noTerminal}.\n`);

const folder = mkdtempSync(join(tmpdir(), 'inquiries-inbox-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Options {
  readonly input?: string | Buffer;
  readonly env?: NodeJS.ProcessEnv;
}

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** No credentials, region or endpoint of the machine. */
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: folder,
  TMPDIR: folder,
  TZ: 'UTC',
  AWS_EC2_METADATA_DISABLED: 'true',
};

async function start(command: string[], { input = '', env = {} }: Options): Promise<Result> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd: ROOT, env: { ...ENVIRONMENT, ...env } });
  // A command that does not read its input closes it.
  child.stdin.on('error', () => undefined).end(input);
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
  return { code: await exit, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Runs the command with pipes. */
const inbox = (args: string[], options: Options = {}): Promise<Result> =>
  start([process.execPath, 'inbox/main.ts', ...args], options);

const ESC = '\u001b';
const PROGRESS = new RegExp(`\r${ESC}\\[K([\\d,]+ inquir(y|ies) …)?`, 'g');

/** Runs the command at a terminal of 100 columns; `stdout` has both outputs, its lines end in LF. */
async function inboxAtTerminal(args: string[], options: Options = {}): Promise<Result> {
  const command = [process.execPath, 'inbox/main.ts', ...args].map((word) => `'${word}'`).join(' ');
  const result = await start(['script', '-qec', `stty cols 100 -echo; ${command}`, '/dev/null'], options);
  const stdout = result.stdout
    // The progress line of a slow machine.
    .replaceAll(PROGRESS, '')
    .replaceAll('\r\n', '\n');
  return { ...result, stdout };
}

const DAY = 86_400_000;

describeOnEngines('npm run inbox', (endpoint, engine) => {
  let table: Awaited<ReturnType<typeof createOwnTable>>;
  let local: string[];
  beforeEach(async () => {
    table = await createOwnTable(endpoint);
    local = ['--data', writeState(endpoint)];
    return () => table.close();
  });

  /** Writes the state file of a running stack, whose process is this one. @returns Its folder. */
  function writeState(engineUrl: string): string {
    const data = mkdtempSync(join(folder, 'data-'));
    const state = { pid: process.pid, issuer: '-', keysFile: '-', engine: engineUrl, table: table.name };
    writeFileSync(join(data, 'stack.json'), JSON.stringify(state));
    return data;
  }

  let last = 0;
  /** Stores an inquiry that was created the given milliseconds ago. */
  async function add(age: number, change: Partial<StoredInquiry> = {}): Promise<StoredInquiry> {
    const time = Date.now() - age;
    const row = {
      ...INQUIRY,
      id: UUID.fromFieldsV7(time, 1, 2, ++last).toString(),
      created_at: new Date(time).toISOString(),
      ...change,
    };
    await table.client.send(new PutCommand(createInquiryEntity(table.name).put(row).params()));
    return row;
  }

  const stored = (id: string) => createInbox(table.client, table.name).get(id);

  const ANSWER = { reply: 'Yes.', respondent: 'Ben', reply_at: '2026-11-20T10:00:00.000Z' };
  /** Objects of JSON lines. */
  const parse = (stdout: string): unknown[] =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
  const summaryOf = ({ body: _body, reply: _reply, ...row }: StoredInquiry) => row;

  /** Times of answers in milliseconds, by inquiry. */
  async function addAnswered(...times: (number | undefined)[]): Promise<StoredInquiry[]> {
    const rows = [];
    for (const [n, time] of times.entries()) {
      const created = Date.now() - n * 60_000;
      const answer = time !== undefined && {
        respondent: 'R',
        reply_at: new Date(created + time).toISOString(),
      };
      rows.push(
        await add(0, {
          id: UUID.fromFieldsV7(created, 1, 2, 3).toString(),
          created_at: new Date(created).toISOString(),
          ...answer,
        }),
      );
    }
    return rows;
  }

  describe('list', () => {
    it('prints one JSON object a line into a pipe, unanswered ones, newest first', async () => {
      const rows = [await add(3_000), await add(2_000, ANSWER), await add(1_000)];
      const { code, stdout, stderr } = await inbox([...local, 'list']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parse(stdout)).toEqual([rows[2], rows[0]].map((row) => row && summaryOf(row)));
    });

    it.skipIf(noTerminal)(
      'prints a table at a terminal and marks what expires within seven days',
      async () => {
        const expires_at = Math.floor(Date.now() / 1_000) + 3 * 86_400 + 60;
        const near = await add(3 * 3_600_000, { expires_at, subject: '注文についての質問' });
        const far = await add(2 * DAY, { expires_at: expires_at + 30 * 86_400 });
        const { code, stdout } = await inboxAtTerminal([...local, 'list']);
        expect(code).toBe(0);
        expect(stdout).toBe(
          `ID${' '.repeat(36)}AGE  EXPIRES  EMAIL            SUBJECT\n` +
            `${near.id}  3h   in 3d    ana@example.com  注文についての質問\n` +
            `${far.id}  2d            ana@example.com  s\n`,
        );
      },
    );
  });

  describe('show', () => {
    it.each(['lower case', 'upper case', 'braces', 'the form of a reference'])(
      'prints all of it as JSON into a pipe, id in %s',
      async (form) => {
        const row = await add(1, { ...ANSWER, expires_at: 4_000_000_000 });
        const id =
          {
            'lower case': row.id,
            'upper case': row.id.toUpperCase(),
            braces: `{${row.id}}`,
            'the form of a reference': row.id.slice(0, 13),
          }[form] ?? '';
        const { code, stdout } = await inbox([...local, 'show', id]);
        expect(code).toBe(0);
        expect(parse(stdout)).toEqual([row]);
      },
    );
  });

  it('names the inquiries of a reference that more than one has, and answers none', async () => {
    const older = await add(1);
    const second = await add(1, { id: `${older.id.slice(0, -1)}${older.id.endsWith('0') ? '1' : '0'}` });
    const reference = older.id.slice(0, 13);
    for (const verb of ['show', 'dismiss', 'reply']) {
      const { code, stdout, stderr } = await inbox([...local, verb, reference], { input: 'text' });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`More than one inquiry has the reference ${reference}: `);
      for (const { id } of [older, second]) expect(stderr).toContain(id);
    }
    expect((await stored(older.id))?.reply_at).toBeUndefined();
  });

  it('dismiss takes a reference, and names the id', async () => {
    const { id } = await add(1);
    const { stdout } = await inbox([...local, 'dismiss', id.slice(0, 13).toUpperCase(), '--as', 'Ana']);
    expect(parse(stdout)).toMatchObject([{ id, respondent: 'Ana' }]);
    expect((await stored(id))?.respondent).toBe('Ana');
  });

  describe('reply', () => {
    it('takes the text from standard input, and prints who answered and when', async () => {
      const { id } = await add(1);
      const { code, stdout, stderr } = await inbox([...local, 'reply', id, '--as', 'Ana B.'], {
        input: 'Dear Ben,\r\n\r\nyes.\r\n\r\n',
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const row = await stored(id);
      expect(row).toMatchObject({ reply: 'Dear Ben,\n\nyes.', respondent: 'Ana B.' });
      expect(Math.abs(Date.parse(row?.reply_at ?? '') - Date.now())).toBeLessThan(60_000);
      expect(parse(stdout)).toEqual([{ id, respondent: 'Ana B.', reply_at: row?.reply_at }]);
    });

    it('exits with 3 when somebody has answered, and changes nothing', async () => {
      const row = await add(DAY, ANSWER);
      for (const verb of ['reply', 'dismiss']) {
        expect(await inbox([...local, verb, row.id], { input: 'No.' })).toEqual({
          code: 3,
          stdout: '',
          stderr: 'Already answered by Ben at 2026-11-20 10:00:00 UTC.\n',
        });
      }
      expect(await stored(row.id)).toEqual(row);
    });

    it('succeeds for one of two people at once', async () => {
      const { id } = await add(1);
      const results = await Promise.all(
        ['Ana', 'Ben'].map((name) => inbox([...local, 'reply', id, '--as', name], { input: name })),
      );
      expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 3]));
      const winner = results[0]?.code === 0 ? 'Ana' : 'Ben';
      expect(results.find(({ code }) => code === 3)?.stderr).toMatch(`Already answered by ${winner} at `);
      expect(await stored(id)).toMatchObject({ reply: winner });
    });

    it('is reported as given when the response to it was lost', async () => {
      const { id } = await add(1);
      const proxy = await startFaultProxy(endpoint);
      const lose = first(1, cutConnection('after', 'reset'));
      let updates = 0;
      proxy.plan = (_, operation) => (operation === 'UpdateItem' ? lose(updates++, operation) : undefined);
      const data = writeState(proxy.url);
      const { code, stderr } = await inbox(['reply', id, '--data', data], { input: 'Yes.' });
      await proxy.close();
      expect({ code, stderr, updates }).toEqual({ code: 0, stderr: '', updates: 2 });
    });
  });

  it('dismiss marks an inquiry as answered without a reply', async () => {
    const row = await add(1);
    const { code, stdout } = await inbox([...local, 'dismiss', row.id, '--as', 'Ana']);
    expect(code).toBe(0);
    const [result] = parse(stdout) as [{ reply_at: string }];
    expect(await stored(row.id)).toEqual({ ...row, respondent: 'Ana', reply_at: result.reply_at });
    expect((await inbox([...local, 'list'])).stdout).toBe('');
  });

  describe('export', () => {
    it('prints everything with bodies and answers, exactly as it is stored', async () => {
      const rows = [await add(DAY, ANSWER), await add(2, { body: '=1\r\n\u001b[2J\u202E', subject: '' })];
      const { code, stdout, stderr } = await inbox([...local, 'export']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parse(stdout)).toEqual(rows.toReversed());
      expect((await inbox([...local, 'export', '--json'])).stdout).toBe(stdout);
    });

    it('prints CSV: a byte order mark, a header, CRLF, every text quoted', async () => {
      const { id, created_at } = await add(1, { ...ANSWER, subject: 'a "b", c', body: 'x\r\ny' });
      const { code, stdout } = await inbox([...local, 'export', '--csv']);
      expect(code).toBe(0);
      expect(stdout).toBe(
        '\uFEFF"id","cognito_sub","email","subject","body","created_at","reply","respondent","reply_at","expires_at"\r\n' +
          `"${id}","${SUB}","${EMAIL}","a ""b"", c","x\ny","${created_at}","Yes.","Ben","${ANSWER.reply_at}",\r\n`,
      );
    });
  });

  describe('stats', () => {
    it.each([
      ['no inquiry', [], { inquiries: 0, unanswered: 0, median_seconds: null }],
      ['nothing answered', [undefined], { inquiries: 1, unanswered: 1, median_seconds: null }],
      ['an odd number', [9_000, 1_000, undefined, 2_000], { inquiries: 4, unanswered: 1, median_seconds: 2 }],
      ['an even number', [9_000, 1_000, 2_000, 100_000], { inquiries: 4, unanswered: 0, median_seconds: 6 }],
    ])('counts: %s', async (_, times, expected) => {
      const rows = await addAnswered(...times);
      const { code, stdout } = await inbox([...local, 'stats']);
      expect(code).toBe(0);
      const oldest = rows.findLast(({ reply_at }) => reply_at === undefined)?.created_at ?? null;
      expect(parse(stdout)).toEqual([{ ...expected, oldest_unanswered: oldest, weeks: expect.any(Array) }]);
    });
  });

  it('no verb shows idempotency keys', async () => {
    const rows = [await add(2_000, ANSWER), await add(1_000)];
    const verbs = [
      ['list', '--all'],
      ['show', rows[0]?.id ?? ''],
      ['export'],
      ['export', '--csv'],
      ['stats'],
    ];
    const print = () => Promise.all(verbs.map((verb) => inbox([...local, ...verb])));
    const before = await print();
    expect(before.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    for (const row of rows) await writeIdempotencyKey({ client: table.client, table: table.name }, row);
    expect(await print()).toEqual(before);
  });

  describe('failures', () => {
    it('says in one line which table does not exist', async () => {
      await table.client.send(new DeleteTableCommand({ TableName: table.name }));
      expect(await inbox([...local, 'list'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The table of the local stack does not exist; restart the stack with npm start.\n',
      });
      expect(await inbox([...local, 'list', '--table', 'restored'])).toEqual({
        code: 1,
        stdout: '',
        stderr: 'The table restored does not exist.\n',
      });
    });

    it('says in one line that the index is missing and what to do', async () => {
      const { GlobalSecondaryIndexes: _, AttributeDefinitions, ...definition } = tableDefinition;
      const TableName = `${table.name}-without-index`;
      await table.client.send(
        new CreateTableCommand({
          ...definition,
          TableName,
          AttributeDefinitions: AttributeDefinitions.slice(0, 2),
        }),
      );
      await waitUntilTableExists({ client: table.client, maxWaitTime: 30, minDelay: 0.1 }, { TableName });
      const env = stageEnvironment(endpoint);
      for (const [place, remedy] of [
        [['--stage', 'main'], 'deploy the stage: npm run deploy -- main'],
        [local, 'restart the stack with npm start'],
      ] as const) {
        expect(await inbox([...place, '--table', TableName, 'list'], { env })).toEqual({
          code: 1,
          stdout: '',
          stderr: `The table ${TableName} has no index by-time; ${remedy}.\n`,
        });
      }
    });
  });

  // What follows does not depend on the engine.
  if (engine !== 'dynalite') return;

  describe('list', () => {
    it.each([
      [['--all'], [2, 1, 0]],
      [['--email', 'b@example.com'], [1]],
      [
        ['--since', '2h'],
        [2, 1],
      ],
      [
        ['--all', '--limit', '2'],
        [2, 1],
      ],
      [['--limit', '1'], [2]],
    ])('%j', async (options, expected) => {
      const rows = [await add(DAY), await add(3_600_000, { email: 'b@example.com' }), await add(1_000)];
      const { code, stdout } = await inbox(['list', ...options, ...local]);
      expect(code).toBe(0);
      expect(parse(stdout).map((row) => (row as StoredInquiry).id)).toEqual(expected.map((n) => rows[n]?.id));
    });

    it('prints nothing into a pipe when nothing is unanswered', async () => {
      await add(1, ANSWER);
      expect(await inbox([...local, 'list'])).toEqual({ code: 0, stdout: '', stderr: '' });
    });

    it('ends in silence when its reader ends first', async () => {
      const subject = 's'.repeat(10_000);
      for (let n = 0; n < 100; n++) await add(n, { subject });
      const command = `'${process.execPath}' inbox/main.ts list --data '${local[1]}' | head -c 100`;
      const { stdout, stderr } = await start(['sh', '-c', command], {});
      expect(stdout).toHaveLength(100);
      expect(stderr).toBe('');
    });

    it.skipIf(noTerminal)('says at a terminal who answered, and how many more there are', async () => {
      for (let n = 3; n > 0; n--)
        await add(n * 3_600_000, { ...ANSWER, reply_at: new Date(Date.now() - 2 * DAY).toISOString() });
      const { stdout } = await inboxAtTerminal([...local, 'list', '--all', '--limit', '2'], {
        env: { NO_COLOR: '1' },
      });
      expect(stdout).toContain('Ben, 2d ago  ana@example.com  s\n');
      expect(stdout.split('\n')).toHaveLength(5);
      expect(stdout).toContain('The newest 2 of 3 inquiries; --limit N shows more.\n');
    });

    it.skipIf(noTerminal)(
      'says at a terminal that nothing is unanswered; --json prints JSON there',
      async () => {
        expect(await inboxAtTerminal([...local, 'list'])).toMatchObject({
          code: 0,
          stdout: 'Nothing is unanswered.\n',
        });
        const row = await add(1);
        const { stdout } = await inboxAtTerminal([...local, 'list', '--json']);
        expect(parse(stdout)).toEqual([summaryOf(row)]);
      },
    );
  });

  describe('show', () => {
    it.skipIf(noTerminal)('prints text at a terminal', async () => {
      const row = await add(DAY, { ...ANSWER, subject: 'Sub\u001b[2Jject', body: 'one\n\u009b31mtwo' });
      const { code, stdout } = await inboxAtTerminal([...local, 'show', row.id]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Id       ${row.id}\nEmail    ana@example.com\nOwner    ${SUB}\nCreated  20`);
      expect(stdout).toContain(String.raw`Subject  Sub\u001b[2Jject`);
      expect(stdout).toContain('\n\n  one\n  \\u009b31mtwo\n\nReply\n\n  Yes.\n');
      expect(stdout).toMatch(/^Answer {3}answered by Ben, 2026-11-20 10:00:00 UTC \(\d+\w ago\)$/m);
    });

    it.each([
      ['an unknown id', INQUIRY.id, {}],
      ['an expired inquiry', undefined, { expires_at: 1 }],
    ])('says in one line that there is no such inquiry: %s', async (_, unknown, change) => {
      const row = await add(1, change);
      const id = unknown ?? row.id;
      for (const verb of ['show', 'dismiss', 'reply']) {
        expect(await inbox([...local, verb, id], { input: 'text' })).toEqual({
          code: 1,
          stdout: '',
          stderr: `There is no inquiry ${id}.\n`,
        });
      }
    });
  });

  describe('reply', () => {
    it('takes the text from a file, and the respondent is the user of the operating system', async () => {
      const { id } = await add(1);
      const file = join(folder, 'reply.txt');
      writeFileSync(file, '\uFEFFこんにちは\n');
      expect(await inbox([...local, 'reply', '--file', file, id])).toMatchObject({ code: 0 });
      expect(await stored(id)).toMatchObject({ reply: 'こんにちは', respondent: userInfo().username });
    });

    it.each([
      ['an empty text', '', 'The reply is empty; nothing was changed.\n', 2],
      ['white space', ' \r\n\t', 'The reply is empty; nothing was changed.\n', 2],
      [
        'what is not UTF-8',
        Buffer.from([0x63, 0xe9]),
        'The reply cannot be read from standard input (it is not UTF-8).\n',
        2,
      ],
      [
        'more than 400 KB',
        'x'.repeat(409_601),
        'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.\n',
        2,
      ],
      [
        'much more',
        'x'.repeat(5_000_000),
        'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.\n',
        2,
      ],
      [
        'more than the inquiry leaves room for',
        'x'.repeat(409_000),
        'The reply is too long: with the inquiry it may have 400 KB; nothing was changed.\n',
        1,
      ],
    ])('refuses %s', async (_, input, stderr, code) => {
      const row = await add(1, { body: 'b'.repeat(1_000) });
      expect(await inbox([...local, 'reply', row.id], { input })).toEqual({ code, stdout: '', stderr });
      expect(await stored(row.id)).toEqual(row);
    });

    it('names a file that cannot be read', async () => {
      const { id } = await add(1);
      for (const [file, reason] of [
        [join(folder, 'missing'), 'ENOENT'],
        [folder, 'EISDIR'],
      ] as const) {
        expect(await inbox([...local, 'reply', id, '--file', file])).toEqual({
          code: 2,
          stdout: '',
          stderr: `The reply cannot be read from ${file} (${reason}).\n`,
        });
      }
    });
  });

  describe.skipIf(noTerminal)('reply in an editor', () => {
    /** Runs the verb with a shell script as the editor, whose last argument is the file. */
    async function edit(id: string, script: string) {
      const editor = join(mkdtempSync(join(folder, 'editor-')), 'my editor');
      writeFileSync(editor, `#!/bin/sh\nset -e\n${script}\n`);
      chmodSync(editor, 0o755);
      return inboxAtTerminal([...local, 'reply', id], {
        env: { EDITOR: 'false', VISUAL: `'${editor}' --wait` },
      });
    }
    const drafts = (): string[] => readdirSync(folder).filter((name) => name.startsWith('inquiry-'));
    beforeEach(() => {
      for (const draft of drafts()) rmSync(join(folder, draft), { recursive: true });
    });

    it('shows the inquiry below a line, sends what is above it, and removes the file', async () => {
      const row = await add(1, { subject: 'S\u001b[2J', body: 'first\nsecond' });
      const copy = join(folder, 'seen.txt');
      const { code, stdout } = await edit(
        row.id,
        `cp "$2" '${copy}'; stat -c %a "$2" > '${copy}.mode'; { printf 'Hello\\n\\n'; cat '${copy}'; } > "$2"`,
      );
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: `Answered ${row.id} as ${userInfo().username}.\n`,
      });
      const [above, below] = readFileSync(copy, 'utf8').split(/^-+ >8 -+$/m);
      expect(above).toBe('\n');
      expect(below).toContain('\nEmail:    ana@example.com\nSubject:  S\\u001b[2J\n\n> first\n> second\n');
      // Editors read settings in the first and last five lines.
      const lines = readFileSync(copy, 'utf8').trimEnd().split('\n');
      expect([...lines.slice(0, 5), ...lines.slice(-5)].join('\n')).not.toMatch(/@example|second/);
      expect(readFileSync(`${copy}.mode`, 'utf8')).toBe('600\n');
      expect(await stored(row.id)).toMatchObject({ reply: 'Hello' });
      expect(drafts()).toEqual([]);
    });

    it.each([
      ['left as it was', ':', 2, 'The reply is empty; nothing was sent.\n'],
      ['that is empty', ': > "$2"', 2, 'The reply is empty; nothing was sent.\n'],
      [
        'without the line',
        'echo text > "$2"',
        1,
        'The line above the inquiry is missing; nothing was sent.\n',
      ],
      [
        'of an editor that fails',
        `sed -i '1s/^/text/' "$2"; exit 1`,
        1,
        'The editor failed; nothing was sent.\n',
      ],
    ])('sends nothing from a file %s, and keeps a text', async (_, script, code, message) => {
      const row = await add(1);
      const { stdout, ...result } = await edit(row.id, script);
      expect(result.code).toBe(code);
      expect(stdout).toContain(message);
      expect(await stored(row.id)).toEqual(row);
      const [, kept] = /^Your text is kept in (.*)$/m.exec(stdout) ?? [];
      expect(kept === undefined ? [] : [readFileSync(kept, 'utf8').slice(0, 4)]).toEqual(
        code === 2 ? [] : ['text'],
      );
    });

    it('keeps the text when somebody answers while it is written', async () => {
      const { id } = await add(1);
      const other = `'${process.execPath}' '${ROOT}/inbox/main.ts' reply ${id} --as Ben --data '${local[1]}'`;
      const { code, stdout } = await edit(id, `echo other | ${other} > /dev/null; sed -i '1s/^/mine/' "$2"`);
      expect(code).toBe(3);
      expect(stdout).toContain('Already answered by Ben at ');
      const [, kept = ''] = /^Your text is kept in (.*)$/m.exec(stdout) ?? [];
      expect(readFileSync(kept, 'utf8')).toMatch(/^mine\n/);
    });

    it('is not opened when somebody has answered, or without an editor', async () => {
      const { id } = await add(1, ANSWER);
      const opened = join(folder, 'opened');
      expect(await edit(id, `touch '${opened}'`)).toMatchObject({ code: 3 });
      expect(existsSync(opened)).toBe(false);
      const { code, stdout } = await inboxAtTerminal([...local, 'reply', id]);
      expect(code).toBe(2);
      expect(stdout).toBe('There is no editor; set $EDITOR, or pass --file FILE or standard input.\n');
    });
  });

  describe('export', () => {
    it.each([
      [['--email', 'b@example.com'], [1]],
      [
        ['--sub', SUB.toUpperCase()],
        [2, 0],
      ],
      [['--sub', SUB, '--email', EMAIL, '--since', '2d'], []],
      [
        ['--since', '2d'],
        [2, 1],
      ],
    ])('%j', async (options, expected) => {
      const rows = [
        await add(3 * DAY),
        await add(DAY, { email: 'b@example.com', cognito_sub: 'b' }),
        await add(1, { email: 'new@example.com' }),
      ];
      const { code, stdout } = await inbox([...local, 'export', ...options]);
      expect(code).toBe(0);
      expect(parse(stdout)).toEqual(expected.map((n) => rows[n]));
    });

    it('writes a file that only its owner can read, and replaces one that is there', async () => {
      const row = await add(1);
      const out = join(folder, `export-${engine}.jsonl`);
      writeFileSync(out, 'old', { mode: 0o644 });
      expect(await inbox([...local, 'export', '--out', out])).toEqual({
        code: 0,
        stdout: '',
        stderr: `1 inquiry in ${out}\n`,
      });
      expect(parse(readFileSync(out, 'utf8'))).toEqual([row]);
      expect(statSync(out).mode & 0o777).toBe(0o600);
    });

    it('leaves the old file, and no part of a new one, when reading fails', async () => {
      for (let n = 0; n < 60; n++) await add(n);
      const place = mkdtempSync(join(folder, 'out-'));
      const out = join(place, 'export.jsonl');
      writeFileSync(out, 'old');
      const proxy = await startFaultProxy(endpoint);
      let batches = 0;
      proxy.plan = (_, operation) =>
        operation === 'BatchGetItem' && ++batches > 1 ? refuse(400, 'AccessDeniedException') : undefined;
      const result = await inbox(['export', '--data', writeState(proxy.url), '--out', out]);
      await proxy.close();
      expect(result).toMatchObject({ code: 1, stdout: '' });
      expect(result.stderr).toMatch(/^The AWS credentials do not allow [^\n]*\n$/);
      expect(batches).toBe(2);
      expect(readdirSync(place)).toEqual(['export.jsonl']);
      expect(readFileSync(out, 'utf8')).toBe('old');
    });

    it.each(['SIGINT', 'SIGTERM'] as const)('leaves no part of a file after %s', async (signal) => {
      await add(1);
      const place = mkdtempSync(join(folder, 'out-'));
      const proxy = await startFaultProxy(endpoint);
      proxy.plan = (_, operation) => (operation === 'BatchGetItem' ? hang : undefined);
      const args = ['inbox/main.ts', 'export', '--data', writeState(proxy.url), '--out', join(place, 'x')];
      const child = spawn(process.execPath, args, { cwd: ROOT, env: ENVIRONMENT });
      const exit = once(child, 'exit');
      await expect.poll(() => readdirSync(place), { timeout: 30_000 }).toHaveLength(1);
      child.kill(signal);
      expect(await exit).toEqual([signal === 'SIGINT' ? 130 : 143, null]);
      expect(readdirSync(place)).toEqual([]);
      await proxy.close();
    });

    it('refuses a target that is not a regular file, or cannot be written, in one line', async () => {
      await add(1);
      const link = join(mkdtempSync(join(folder, 'link-')), 'link');
      symlinkSync('/dev/null', link);
      const missing = join(folder, 'missing', 'export.csv');
      for (const [out, code, message] of [
        [folder, 2, 'is not a regular file'],
        [link, 2, 'is not a regular file'],
        [missing, 1, 'cannot be written (ENOENT)'],
      ] as const) {
        const result = await inbox([...local, 'export', '--csv', '--out', out]);
        expect(result).toMatchObject({ code, stdout: '' });
        expect(result.stderr).toMatch(/^[^\n]*\n$/);
        expect(result.stderr).toContain(message);
      }
      expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    });

    it('uses a bounded amount of memory', async () => {
      const body = 'b'.repeat(399_000);
      for (let n = 0; n < 200; n++) await add(n, { body });
      // 80 MB pass through a heap of 64 MB.
      const command = `'${process.execPath}' --max-old-space-size=64 inbox/main.ts export --data '${local[1]}'`;
      const { stdout, stderr } = await start(['sh', '-c', `${command} | wc -lc`], {});
      expect(stderr).toBe('');
      const [lines = 0, bytes = 0] = stdout.trim().split(/\s+/).map(Number);
      expect(lines).toBe(200);
      expect(bytes).toBeGreaterThan(200 * body.length);
    });
  });

  describe('stats', () => {
    it('counts by week from Monday, the last ten', async () => {
      for (let week = 0; week < 12; week++) {
        // Monday 2026-08-31 and the Sunday after it, and so on.
        for (const time of [
          Date.UTC(2026, 7, 31 + week * 7),
          Date.UTC(2026, 7, 37 + week * 7, 23, 59, 59, 999),
        ]) {
          const created_at = new Date(time).toISOString();
          const reply_at = new Date(time + week * 1_000).toISOString();
          await add(0, {
            id: UUID.fromFieldsV7(time, 1, 2, 3).toString(),
            created_at,
            ...(week > 0 && { respondent: 'R', reply_at }),
          });
        }
      }
      const [result] = parse((await inbox([...local, 'stats'])).stdout) as [{ weeks: { week: string }[] }];
      expect(result).toMatchObject({ inquiries: 24, unanswered: 2 });
      expect(result.weeks.map(({ week }) => week)).toEqual(
        Array.from({ length: 10 }, (_, n) =>
          new Date(Date.UTC(2026, 10, 16 - n * 7)).toISOString().slice(0, 10),
        ),
      );
      expect(result.weeks[0]).toEqual({
        week: '2026-11-16',
        inquiries: 2,
        unanswered: 0,
        median_seconds: 11,
      });
    });

    it.skipIf(noTerminal)('prints text at a terminal', async () => {
      await addAnswered(7_200_000, undefined);
      const { code, stdout } = await inboxAtTerminal([...local, 'stats']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Unanswered {9}1 of 2 inquiries\nOldest unanswered {2}20.* UTC \(1m old\)\n/);
      expect(stdout).toMatch(/^Median to answer {3}2h\n\nWEEK OF +INQUIRIES +UNANSWERED +MEDIAN\n/m);
    });
  });

  describe('texts of users', () => {
    beforeEach(async () => {
      for (const [n, hostile] of HOSTILE_TEXTS.entries()) {
        await add(n, {
          subject: hostile,
          body: hostile,
          email: `${hostile.slice(0, 50)}@example.com`.toWellFormed(),
        });
      }
    });

    it.skipIf(noTerminal)(
      'neither move the cursor nor change colours or directions at a terminal',
      async () => {
        const { stdout } = await inboxAtTerminal([...local, 'list', '--limit', '100']);
        expect(stdout.split('\n')).toHaveLength(HOSTILE_TEXTS.length + 2);
        // Only the isolates around text that is written from right to left.
        expect(stdout).not.toMatch(/[^\P{Cc}\n]|[^\P{Bidi_Control}\u2068\u2069]|[\p{Zl}\p{Zp}]/u);
        expect(stdout.match(/\u2068/g)?.length).toBe(stdout.match(/\u2069/g)?.length);
        const json = await inboxAtTerminal([...local, 'export']);
        expect(json.stdout.split('\n')).toHaveLength(HOSTILE_TEXTS.length + 1);
        expect(json.stdout).not.toMatch(/[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      },
    );

    it('are no formulas in CSV, whatever separator a spreadsheet expects, and no control characters', async () => {
      const { stdout } = await inbox([...local, 'export', '--csv']);
      expect(stdout.replaceAll('\r\n', '\n')).not.toMatch(/[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      const records = parseCsv(stdout.slice(1));
      expect(records).toHaveLength(HOSTILE_TEXTS.length + 1);
      expect(records.every((record) => record.length === 10)).toBe(true);
      const formula = /^[\s"]*[=+\-@＝＋－＠]/;
      expect(records.flat().filter((field) => formula.test(field))).toEqual([]);
      expect(stdout.split(/[;\t|\r\n]/).filter((cell) => formula.test(cell))).toEqual([]);
    });
  });

  describe('failures', () => {
    it('works on another table with --table', async () => {
      const { id } = await add(1);
      const data = writeState(endpoint);
      const file = join(data, 'stack.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace(table.name, 'other'));
      const { stdout } = await inbox(['--data', data, 'list', '--table', table.name]);
      expect(parse(stdout)).toMatchObject([{ id }]);
    });
  });

  describe('on a stage', () => {
    it('answers as the user of the credentials, and says on standard error on which table', async () => {
      const { id } = await add(1);
      const sts = await startSts(
        200,
        identity('arn:aws:sts::111122223333:assumed-role/support/ana@example.com'),
      );
      const env = { ...stageEnvironment(endpoint), AWS_ENDPOINT_URL_STS: sts.url };
      const stage = ['--stage', 'develop', '--table', table.name];
      const { code, stdout, stderr } = await inbox([...stage, 'reply', id], { env, input: 'Yes.' });
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `Table ${table.name} of develop, answered by ana@example.com\n`,
      });
      expect(parse(stdout)).toMatchObject([{ id, respondent: 'ana@example.com' }]);
      const again = await inbox([...stage, 'dismiss', id], { env });
      expect(again.code).toBe(3);
      expect(again.stderr).toMatch(/\nAlready answered by ana@example.com at .*\n$/);
      await sts.close();
    });

    it('reads without asking who the credentials belong to', async () => {
      const row = await add(1);
      const env = stageEnvironment(endpoint);
      const { code, stdout, stderr } = await inbox(['list', '--stage', 'release', '--table', table.name], {
        env,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(parse(stdout)).toEqual([summaryOf(row)]);
    });

    it('names the table of the stage', async () => {
      expect(await inbox(['--stage', 'release', 'list'], { env: stageEnvironment(endpoint) })).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'The table inquiries-release does not exist in this account and region; deploy the stage: npm run deploy -- release.\n',
      });
    });

    it.each([
      ['user/ana', 'ana'],
      ['root', 'root'],
    ])('takes the name from an ARN that ends in %s', async (end, name) => {
      const { id } = await add(1);
      const sts = await startSts(200, identity(`arn:aws:iam::111122223333:${end}`));
      const env = { ...stageEnvironment(endpoint), AWS_ENDPOINT_URL_STS: sts.url };
      const { stdout } = await inbox(['--stage', 'main', '--table', table.name, 'dismiss', id], { env });
      await sts.close();
      expect(parse(stdout)).toMatchObject([{ respondent: name }]);
    });

    it('stores nothing when the credentials are refused', async () => {
      const row = await add(1);
      const sts = await startSts(
        403,
        '<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>secret</Message></Error></ErrorResponse>',
      );
      const env = { ...stageEnvironment(endpoint), AWS_ENDPOINT_URL_STS: sts.url };
      expect(
        await inbox(['--stage', 'main', '--table', table.name, 'reply', row.id], { env, input: 'x' }),
      ).toEqual({
        code: 1,
        stdout: '',
        stderr: 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).\n',
      });
      await sts.close();
      expect(await stored(row.id)).toEqual(row);
    });
  });
});

/** The environment of an operator, with the engine in the place of DynamoDB. */
const stageEnvironment = (endpoint: string): Record<string, string> => ({
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
});

const identity = (arn: string): string =>
  `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${arn}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`;

async function startSts(status: number, body: string) {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'content-type': 'text/xml' }).end(body),
  );
  const url = `http://127.0.0.1:${await listen(server, 0)}`;
  return { url, close: () => close(server) };
}

/** Parses RFC 4180. */
function parseCsv(csv: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') records.push([]);
  }
  return records.slice(0, -1);
}

describe('the command line', () => {
  beforeAll(() => mkdirSync(join(folder, 'empty')));
  const empty = ['--data', join(folder, 'empty')];

  it.each([
    [[], /^The verb is missing, e\.g\. /],
    [['answer'], /^"answer" is not a verb; verbs are list, show, reply, /],
    [['\u001b[2J'], /^"\\u001b\[2J" is not a verb/],
    [['toString'], /^"toString" is not a verb/],
    [['--bogus', 'list'], /^Unknown option '--bogus'/],
    [['list', '--bogus'], /^Unknown option '--bogus'/],
    [['list', 'extra'], /^Unexpected argument 'extra'/],
    [['list', '--stage'], /^Option '--stage <value>' argument missing/],
    [
      ['list', '--stage', 'production'],
      /^"production" is not a stage; stages are develop, main and release\./,
    ],
    [['list', '--stage', 'main', '--as', 'x'], /^--as is for the local stack/],
    [['list', '--stage', 'main', '--data', 'x'], /^--data is for the local stack/],
    [['list', '--limit', '0'], /^--limit must be a whole number from 1 on/],
    [['list', '--limit', '1.5'], /^--limit must be a whole number from 1 on/],
    [['list', '--since', 'yesterday'], /^--since must be an age/],
    [['export', '--json', '--csv'], /^--json and --csv exclude each other/],
    [['export', '--sub', 'x'], /^--sub must be a UUID, not "x"/],
    [['show'], /^The id of an inquiry is missing/],
    [['show', 'x'], /^The id must be a UUID, not "x"/],
    [['reply', INQUIRY.id, INQUIRY.id], /^reply takes one id, not 2/],
    [[...empty, 'list'], /^No local stack is running \(cannot read /],
  ])('%j is refused in one line with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await inbox(args, { input: 'x' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^[^\p{Cc}]*\n$/u);
  });

  it.each([
    [[], 'VERB [options]'],
    [['list'], 'list [options]'],
    [['show'], 'show ID [options]'],
    [['reply'], 'reply ID [options]'],
    [['dismiss'], 'dismiss ID [options]'],
    [['export'], 'export [options]'],
    [['stats'], 'stats [options]'],
  ])('%j --help prints the usage without a running stack', async (args, usage) => {
    const { code, stdout, stderr } = await inbox([...empty, ...args, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: npm run inbox -- [--stage STAGE] ${usage}\n`);
  });

  it('names no credentials and no region in one line', async () => {
    const stage = ['--stage', 'develop', 'list'];
    expect(await inbox(stage)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no AWS region; set AWS_REGION or AWS_PROFILE.\n',
    });
    expect(await inbox(stage, { env: { AWS_REGION: 'eu-central-1' } })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).\n',
    });
  });

  it('says in one line that the database cannot be reached', async () => {
    const data = mkdtempSync(join(folder, 'gone-'));
    const state = { pid: process.pid, issuer: '-', keysFile: '-', engine: 'http://127.0.0.1:9', table: 't' };
    writeFileSync(join(data, 'stack.json'), JSON.stringify(state));
    expect(await inbox(['--data', data, 'list'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The engine of the local stack cannot be reached (ECONNREFUSED).\n',
    });
    const env = stageEnvironment('http://127.0.0.1:9');
    expect(await inbox(['--stage', 'develop', 'list'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'AWS cannot be reached (ECONNREFUSED).\n',
    });
  });
});
