import { UsageError } from '../lib/command-line.ts';

const EXAMPLE = 'http://localhost:5173';
const ON_THIS_MACHINE = /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i;

/**
 * Parses a value of --cors-origin.
 *
 * @returns The origin as browsers send it.
 * @throws UsageError that says what to write instead.
 */
export function parseOrigin(text: string): string {
  const [problem, instead = EXAMPLE] = findProblem(text) ?? [];
  if (problem === undefined) return text;
  throw new UsageError(`--cors-origin ${text.trim() || "''"} ${problem}; write ${instead}`);
}

/** @returns What is wrong, and what to write where the text tells. */
function findProblem(text: string): [problem: string, instead?: string | undefined] | undefined {
  const parts = text.trim().split(/[,\s]+/);
  if (text.trim() === '') return ['is empty'];
  if (text.includes('*')) return ['would let other sites call the API with the token of a visitor'];
  if (parts.length > 1) {
    return ['is more than one origin', parts.map((part) => `--cors-origin ${part}`).join(' ')];
  }
  if (!text.includes('://')) {
    const url = URL.parse(`${ON_THIS_MACHINE.test(text) ? 'http' : 'https'}://${text}`);
    return ['has no scheme', url?.origin];
  }
  const url = URL.parse(text);
  if (url === null) return ['is not an origin'];
  const { origin, protocol, username, password, search, hash, pathname } = url;
  if (!['http:', 'https:'].includes(protocol)) return ['is neither http nor https'];
  if (username !== '' || password !== '') return ['has a user name or password', origin];
  if (search !== '') return ['has a query', origin];
  if (hash !== '') return ['has a fragment', origin];
  if (pathname !== '/') return ['has a path', origin];
  if (text.endsWith('/')) return ['has a slash at the end', origin];
  if (text !== origin) return ['is not written as browsers send it', origin];
  return undefined;
}
