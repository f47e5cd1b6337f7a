import { startSandbox as startModule } from '../../scripts/local/lambda/sandbox.ts';
import type { Sandbox as ModuleSandbox } from '../../scripts/local/lambda/sandbox.ts';
import type { GatewayResponse } from '../../src/http.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: unknown;
  readonly milliseconds: number;
}

export interface Sandbox extends Omit<ModuleSandbox, 'invoke'> {
  /**
   * Invokes the handler.
   *
   * @param remaining - Milliseconds until Lambda's own timeout, as the handler is told.
   * @throws Error when it throws or the process ends.
   */
  invoke(event: object, remaining?: number): Promise<Answer>;
  /** What the function wrote, line by line. */
  readonly lines: readonly string[];
}

export const BUILT = new URL('../../dist/handler.mjs', import.meta.url).href;

/** Starts the built handler, or another module, in a sandbox of its own. */
export async function startSandbox(
  environment: Readonly<Record<string, string>>,
  { module = BUILT, nodeArguments = [] }: { module?: string; nodeArguments?: readonly string[] } = {},
): Promise<Sandbox> {
  const lines: string[] = [];
  const sandbox = await startModule({
    module,
    environment: { CORS_ORIGIN: 'https://www.example.com', ...environment },
    nodeArguments,
    log: (line) => void lines.push(line),
  });
  return {
    ...sandbox,
    lines,
    async invoke(event, remaining) {
      const { result, wall } = await sandbox.invoke(JSON.stringify(event), { remaining });
      const { statusCode, headers, body } = JSON.parse(result) as GatewayResponse;
      return {
        status: statusCode,
        headers,
        text: body,
        json: JSON.parse(body) as unknown,
        milliseconds: wall,
      };
    },
  };
}
