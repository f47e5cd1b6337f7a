/** Lambda's `log_format = "JSON"`: each call of the console becomes one line of JSON on the standard output. */

/** @param toLine - What the line holds: Lambda's level, and the argument of the call as `message`. */
export function replaceConsole(toLine: (level: string, message: unknown) => object): void {
  for (const [method, level] of [
    ['debug', 'DEBUG'],
    ['info', 'INFO'],
    ['log', 'INFO'],
    ['warn', 'WARN'],
    ['error', 'ERROR'],
  ] as const) {
    // oxlint-disable-next-line no-console -- this is what replaces it
    console[method] = (message: unknown) => {
      process.stdout.write(`${JSON.stringify(toLine(level, message))}\n`);
    };
  }
}
