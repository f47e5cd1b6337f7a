import { assert, toEvent } from '../../lib/contract/contract-checks.ts';
import { Unavailable, type Invoke } from './invoke.ts';
import { Pending, type Check } from './run-checks.ts';

const SIGN_IN = '/oauth2/authorize?';

/** Checks of a version: nobody is signed in, so it reads no inquiry. */
export function createInboxFunctionChecks(invoke: Invoke, origin = ''): Check[] {
  const { host } = new URL(origin);
  const get = async (path: string) => {
    const event = toEvent({ method: 'GET', path, headers: { host } });
    return (await invoke(event)).result as { statusCode: number; headers: Record<string, string> };
  };
  return [
    [
      'its pages lead to the sign-in',
      async () => {
        const { statusCode, headers } = await get('/');
        if (statusCode === 503) throw new Unavailable('the issuer does not answer');
        const { location = '' } = headers;
        assert(statusCode === 302 && location.includes(SIGN_IN), `${statusCode} ${location}`);
      },
    ],
    [
      'it has its style sheet',
      async () => {
        const { statusCode } = await get('/style.css');
        assert(statusCode === 200, `${statusCode}`);
      },
    ],
  ];
}

export const createInboxChecks = (url: string): Check[] => [
  [
    'the inbox leads to the sign-in of the team',
    async () => {
      const { status, headers } = await fetch(url, { redirect: 'manual' });
      const location = headers.get('location') ?? '';
      if (status === 302 && location.includes(SIGN_IN)) return;
      throw new Pending(`${url} answered ${status}: docs/runbook.md, "inbox-errors"`);
    },
  ],
];
