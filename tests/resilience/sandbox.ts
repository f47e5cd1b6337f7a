import { startSandbox as startModule } from '../../local/lambda/sandbox.ts';
import type { GatewayResponse } from '../../src/http.ts';

const BUILT = new URL('../../dist/handler.mjs', import.meta.url).href;

/** Starts the built handler; `lines` is its output. */
export async function startSandbox(
  environment: Record<string, string>,
  options: Partial<Pick<Parameters<typeof startModule>[0], 'nodeArguments' | 'before'>> = {},
) {
  const lines: string[] = [];
  const sandbox = await startModule({
    module: BUILT,
    environment: { CORS_ORIGIN: 'https://www.example.com', ...environment },
    ...options,
    log: (line) => void lines.push(line),
  });
  const invoke = async (event: object, remaining?: number) => {
    const { result } = await sandbox.invoke(JSON.stringify(event), { remaining });
    const { statusCode, headers, body } = JSON.parse(result) as GatewayResponse;
    return { status: statusCode, headers, text: body, json: JSON.parse(body) as unknown };
  };
  const dispose = { [Symbol.asyncDispose]: () => sandbox.close() };
  return { ...sandbox, ...dispose, lines, invoke };
}
