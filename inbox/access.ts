import { randomBytes } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { timingSafeEqual } from 'hono/utils/buffer';
import type { Problem } from './page/problem-page.ts';
import type { Env } from './respond.ts';

export interface Access {
  /** Pages that need no sign-in. */
  routes: Hono<Env>;
  /** @returns Who answers; undefined for somebody unknown. */
  findMember: (context: Context) => Promise<string | undefined>;
  /** @returns For somebody unknown: the way in, or what to do. */
  invite: (context: Context) => Promise<Response | Problem>;
  /** The origin that signing out leads to; absent without a sign-in. */
  signInOrigin?: string;
}

const NOT_OPENED: Problem = {
  title: 'This address is not the right one',
  text: 'npm run inbox prints the address, which ends in a secret and opens the inbox once, in one browser. If it was opened before, stop the command with Ctrl+C and run it again.',
  link: { href: '/', label: 'Open the inbox' },
};

const createSecret = (): string => randomBytes(32).toString('base64url');

/** A secret in the printed address, which becomes a cookie. docs/adr/0082 */
export function createOneTimeAccess(origin: string, findRespondent: () => Promise<string>) {
  const [secret, session] = [createSecret(), createSecret()];
  // Ports of a host share cookies.
  const cookie = `inbox_${new URL(origin).port}`;
  const routes = new Hono<Env>();
  let isUsed = false;
  routes.get('/open', async (context) => {
    if (!isUsed && (await timingSafeEqual(context.req.query('secret') ?? '', secret))) {
      isUsed = true;
      setCookie(context, cookie, session, { path: '/', httpOnly: true, sameSite: 'Strict' });
    }
    return context.redirect('/', 303);
  });
  const access: Access = {
    routes,
    async findMember(context) {
      const isKnown = await timingSafeEqual(getCookie(context, cookie) ?? '', session);
      return isKnown ? findRespondent() : undefined;
    },
    invite: async () => NOT_OPENED,
  };
  return { access, address: `${origin}/open?secret=${secret}` };
}
