import { PassThrough, Readable, Writable } from 'node:stream';
import stringWidth from 'string-width';
import { expect } from 'vitest';
import { runMain, type Main } from '../../lib/terminal/command-line.ts';
import { escapeUnsafe } from '../../lib/terminal/terminal-text.ts';

export interface IoOptions {
  /** Default: empty. A string or bytes end once read; the test ends a stream. */
  stdin?: string | Buffer | Readable;
  /** Questions on standard error, and what is typed in answer. */
  dialogue?: readonly (readonly [question: string, typed: string])[];
  /** Whether all three are a terminal. Default: false. */
  isTTY?: boolean;
  columns?: number;
  env?: NodeJS.ProcessEnv;
}

/** Splits words as a shell does, with apostrophes around paths, which may have spaces. */
export const splitWords = (line: string): string[] =>
  (line.match(/'[^']*'|[^ '][^ ]*/g) ?? []).map((word) => word.replaceAll(/^'|'$/g, ''));

/**
 * Runs a command in this process. No line may be wider than a terminal of 80 columns or more.
 *
 * @param args - Words, or a line of them.
 */
export async function run(
  main: Main,
  args: string | string[],
  { stdin, dialogue = [], isTTY = false, columns = 80, env = {} }: IoOptions = {},
) {
  const questions = [...dialogue];
  const collect = () => {
    const chunks: Buffer[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk);
        setImmediate(respond);
        done();
      },
    });
    return {
      stream: Object.assign(stream, isTTY && { isTTY, columns }),
      text: (): string => Buffer.concat(chunks).toString(),
    };
  };
  const stdout = collect();
  const stderr = collect();
  const typed = new PassThrough();
  const respond = (): void => {
    const [question, line] = questions[0] ?? [];
    if (question === undefined || !stderr.text().includes(question)) return;
    questions.shift();
    typed.write(`${line}\n`);
  };
  const input =
    stdin instanceof Readable ? stdin : dialogue.length > 0 ? typed : typed.end(stdin ?? '');
  const words = typeof args === 'string' ? splitWords(args) : args;
  const code = await runMain(main, words, {
    stdin: Object.assign(input, isTTY && { isTTY }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
  });
  const lines = `${stdout.text()}\n${stderr.text()}`.split(/\n|\r.\[K/);
  // URLs, ids, paths and commands are not wrapped.
  const isTooWide = (line: string) =>
    stringWidth(line) > columns && !/https?:|\S{36}|npm run|\/.*\//.test(line);
  if (isTTY && columns >= 80) expect(lines.filter(isTooWide)).toEqual([]);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

type Run = (line: string, options?: IoOptions) => ReturnType<typeof run>;

/**
 * For a golden file: each command (`%`: at a terminal), what it prints (`!`: on standard error), and its exit code
 * unless it is 0.
 */
export async function transcribe(
  runLine: Run,
  lines: readonly (string | readonly [line: string, options: IoOptions])[],
): Promise<string> {
  const parts: string[] = [];
  for (const each of lines) {
    const [line, options] = typeof each === 'string' ? [each] : each;
    const { code, stdout, stderr } = await runLine(line, options);
    const variables = Object.entries(options?.env ?? {}).map(([name, value]) => `${name}=${value}`);
    const prompt = [options?.isTTY === true ? '%' : '$', ...variables].join(' ');
    const failure = code === 0 ? '' : `[${code}]\n`;
    const said = stderr.replaceAll(/^(?=.)/gm, '! ');
    parts.push(`${prompt} ${escapeUnsafe(line.trim())}\n${stdout}${said}${failure}`);
  }
  return parts.join('\n').replaceAll('\r', '␍');
}
