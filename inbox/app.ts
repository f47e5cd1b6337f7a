/** The inbox's pages, on a laptop and on a stage. docs/adr/0082 */
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { routePath } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { ITEM_LIMIT } from '../src/limits.ts';
import { createTarget, describeFailure } from '../lib/aws/aws.ts';
import { UsageError } from '../lib/terminal/command-line.ts';
import type { Access } from './access.ts';
import { createInquiryRoutes } from './inquiry-routes.ts';
import { createListRoutes } from './list-routes.ts';
import { createListing } from './listing.ts';
import { ASSETS } from './page/assets.ts';
import type { View } from './page/layout.ts';
import type { Problem } from './page/problem-page.ts';
import { createTimes } from './page/texts.ts';
import { TOO_LARGE } from './record-answer.ts';
import { readUnsent, refuse, type Env, type InboxConnection } from './respond.ts';
import type { SavedReply } from './saved-replies.ts';

/** Bytes: a reply of 400 KB, percent-encoded, and other fields. */
const BODY_LIMIT = 4 * ITEM_LIMIT;

const SELF = ["'self'"];
const NONE = ["'none'"];

export interface InboxOptions {
  /** As browsers send it: without a slash at the end. */
  origin: string;
  stage: string;
  access: Access;
  /** Called for each request: a restarted local stack has other addresses. */
  connect: () => InboxConnection;
  savedReplies: SavedReply[];
  /** Gets what failed, without texts or addresses. */
  log?: (failure: { route: string; error: string }) => void;
  /** Default: the system's. */
  timeZone?: string | undefined;
}

export function createInbox(options: InboxOptions) {
  const { origin, stage, access, connect, timeZone, log } = options;
  const canSignOut = access.signInOrigin !== undefined;
  const unknown: View = { stage, canSignOut, times: createTimes(timeZone) };
  const app = new Hono<Env>();

  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: NONE,
        scriptSrc: SELF,
        styleSrc: SELF,
        imgSrc: SELF,
        connectSrc: SELF,
        formAction: [SELF, access.signInOrigin ?? []].flat(),
        baseUri: NONE,
        frameAncestors: NONE,
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: NONE,
      },
      xFrameOptions: 'DENY',
      // With no-referrer, browsers send forms with the Origin `null`.
      referrerPolicy: 'same-origin',
    }),
    async (context, next) => {
      context.set('view', unknown);
      context.header('cache-control', 'no-store');
      // Against DNS rebinding, where the name of another site leads here.
      if (context.req.header('host') !== new URL(origin).host) return context.redirect(origin);
      const isSafe = context.req.method === 'GET' || context.req.method === 'HEAD';
      if (isSafe || context.req.header('origin') === origin) return next();
      return refuse(context, 403, FOREIGN);
    },
  );
  for (const [name, { data, type }] of Object.entries(ASSETS)) {
    app.get(`/${name}`, (context) => {
      const headers = {
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
      };
      return context.body(data, 200, headers);
    });
  }
  app.use(bodyLimit({ maxSize: BODY_LIMIT, onError: (context) => refuse(context, 413, TOO_LONG) }));
  app.route('/', access.routes);
  app.use(async (context, next) => {
    const member = await access.findMember(context);
    if (member === undefined) return invite(context);
    context.set('view', { ...unknown, member });
    context.set('member', member);
    const connection = connect();
    context.set('connection', connection);
    context.set('listing', createListing(connection));
    return next();
  });
  app.route('/', createListRoutes());
  app.route('/', createInquiryRoutes(options.savedReplies));
  app.notFound((context) => refuse(context, 404, NOWHERE));
  app.onError(async (error, context) => {
    const [status, text] = describe(error, stage);
    const route = `${context.req.method} ${routePath(context)}`;
    if (status === 503) log?.({ route, error: error.name });
    const kept = await readUnsent(context);
    return refuse(context, status, {
      title: 'Nothing was changed',
      text,
      ...kept,
      canRepeat: true,
    });
  });
  return app;

  async function invite(context: Context<Env>): Promise<Response> {
    const isPage = context.req.header('sec-fetch-mode') ?? 'navigate';
    const invitation =
      context.req.method === 'POST' || isPage !== 'navigate' ? ENDED : await access.invite(context);
    if (invitation instanceof Response) return invitation;
    const kept = await readUnsent(context);
    const link = kept.id === undefined ? LIST : { href: `/inquiries/${kept.id}`, label: 'Sign in' };
    return refuse(context, 401, { link, ...invitation, ...kept, canRepeat: true });
  }
}

const LIST = { href: '/', label: 'Open the inbox' };

const FOREIGN: Problem = {
  title: 'This request came from another site',
  text: 'Nothing was changed. If you sent it yourself, open the inbox and do it there.',
  link: LIST,
};
const TOO_LONG: Problem = {
  title: 'The reply is too long',
  text: `${TOO_LARGE} Your browser's way back leads to your text.`,
};
const NOWHERE: Problem = {
  title: 'There is nothing at this address',
  text: 'It may have been cut.',
  link: LIST,
};
const ENDED: Problem = {
  title: 'You are not signed in any more',
  text: 'Nothing was changed. Sign in, then send it again.',
};

/** Other messages than those for AWS's errors may hold data of persons. */
function describe(error: Error, stage: string): [status: 400 | 503, text: string] {
  if (error instanceof UsageError) return [400, error.message];
  if (error.name === 'SignInAway') return [503, error.message];
  const failure = describeFailure(
    error,
    createTarget({ stage: stage === 'local' ? undefined : stage }),
  );
  const text =
    failure instanceof Error && failure !== error
      ? failure.message
      : `The table does not answer as expected (${error.name}).`;
  return [503, text];
}
