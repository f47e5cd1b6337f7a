import { PassThrough, Readable, Writable } from 'node:stream';
import { runMain } from '../../lib/command-line.ts';
import type { Io, Main } from '../../lib/command-line.ts';

export interface IoOptions {
  /** Default: empty. A text or bytes end after they are read; a stream ends when the test ends it. */
  readonly stdin?: string | Buffer | Readable;
  /** Whether all three are a terminal. Default: false. */
  readonly isTTY?: boolean;
  /** Width of the terminal. Default: 100. */
  readonly columns?: number;
  /** The whole environment. Default: empty. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Creates what `runMain` takes, and collects what the command prints. */
export function createIo({ stdin = '', isTTY = false, columns = 100, env = {} }: IoOptions = {}) {
  const collect = () => {
    const chunks: Buffer[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _, done) {
        chunks.push(chunk);
        done();
      },
    });
    return {
      stream: Object.assign(stream, isTTY && { isTTY, columns }),
      text: (): string => Buffer.concat(chunks).toString(),
    };
  };
  const [stdout, stderr] = [collect(), collect()];
  const input = stdin instanceof Readable ? stdin : new PassThrough().end(stdin);
  const io: Io = {
    stdin: Object.assign(input, isTTY && { isTTY }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
  };
  return { io, stdout: stdout.text, stderr: stderr.text };
}

/** Runs a command in this process. @returns Its exit code and what it printed. */
export async function run(main: Main, args: readonly string[], options?: IoOptions) {
  const { io, stdout, stderr } = createIo(options);
  const code = await runMain(main, [...args], io);
  return { code, stdout: stdout(), stderr: stderr() };
}
