/** The page's address ends in a secret, which each request carries. docs/adr/0082 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ITEM_LIMIT } from '../src/limits.ts';
import { beginningOf } from '../ui/format.ts';
import { parseObject, UsageError } from '../lib/terminal/command-line.ts';
import { buildPageWhenStale, outputOf } from '../lib/pages/page-build.ts';
import { startPageServer } from '../lib/pages/page-server.ts';
import { readUpTo } from './read-up-to.ts';
import { createTarget, describeFailure } from '../lib/aws/aws.ts';
import { parseUuid } from './arguments.ts';
import type { Connection, MailState } from './connect.ts';
import { createListing, ORDERS, SHOWS, type ListQuery } from './listing.ts';
import type { ShownInquiry } from './shown-inquiry.ts';
import type { SavedReply } from './saved-replies.ts';
import { parseReply, TOO_LARGE } from './record-answer.ts';
import type { AnswerResult, StoredInquiry } from '../src/entities/stored-inquiries.ts';

const PAGE = join(import.meta.dirname, 'page');

/** UTF-16 units of subject and text in the list. */
const BEGINNING = 160;

/** Bytes: a reply of 400 KB, all escaped. */
const BODY_LIMIT = 8 * ITEM_LIMIT;

/** GET session. Errors are `{ message }`. */
export interface Session {
  stage: string;
  respondent: string;
  mail: MailState;
  savedReplies: SavedReply[];
}

/** POST inquiries/ID/reply and /dismiss; with 409, `already-answered`. */
export type Recorded = Exclude<AnswerResult, { status: 'not-found' | 'too-large' }> & {
  respondent: string;
};

interface Options {
  port?: number;
  savedReplies?: SavedReply[];
}

/**
 * @param connect - Called for each request: a restarted local stack has other addresses.
 * @returns `url` ends in the secret.
 */
export async function serveInbox(
  connect: () => Connection,
  { port = 0, savedReplies = [] }: Options = {},
) {
  await buildPageWhenStale(PAGE);
  const secret = randomBytes(32).toString('base64url');
  const server = await startPageServer({
    port,
    folder: outputOf(PAGE),
    configure: () => true,
    policy: () => [
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
    handle(request, response, origin) {
      if (request.url?.startsWith('/api/') !== true) return false;
      void respond(response, async (signal) => {
        const refusal = refuseOthers(request, origin, secret);
        if (refusal !== undefined) return refusal;
        let connection: Connection | undefined;
        try {
          connection = connect();
          return await handle(connection, savedReplies, request, signal);
        } catch (error) {
          return toRefusal(error as Error, connection);
        }
      });
      return true;
    },
  });
  return { url: `${server.url}/#${secret}`, close: server.close };
}

type Result = readonly [status: number, data: object];

const toError = (status: number, message: string): Result => [status, { message }];

async function respond(
  response: ServerResponse,
  answer: (signal: AbortSignal) => Promise<Result>,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const [status, data] = await answer(gone.signal);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    .end(JSON.stringify(data));
}

function refuseOthers(
  { headers, method }: IncomingMessage,
  origin: string,
  secret: string,
): Result | undefined {
  // Equally long, for a comparison in constant time.
  const [given, expected] = [headers.authorization ?? '', `Bearer ${secret}`].map((text) =>
    hash('sha256', text, 'buffer'),
  ) as [Buffer, Buffer];
  if (!timingSafeEqual(given, expected)) return toError(403, 'The secret in the address is wrong.');
  // Browsers send it with a POST or to another origin.
  const { origin: from = method === 'GET' ? origin : undefined } = headers;
  return from === origin ? undefined : toError(403, 'The request is from another page.');
}

const UNKNOWN = toError(
  404,
  'There is no such inquiry: it has expired, was erased or never existed.',
);
const NOTHING = toError(404, 'There is nothing at this path.');

/** @throws UsageError, or the table's error. */
async function handle(
  connection: Connection,
  savedReplies: SavedReply[],
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Result> {
  const { stage, inquiries, respondent, mail } = connection;
  const listing = createListing(connection);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  const [, resource = '', id, ...action] = pathname.slice(1).split('/');
  const called = [request.method, resource];
  if (id !== undefined) {
    const inquiry = await inquiries.get(parseUuid(id, 'The id'));
    if (inquiry === undefined) return UNKNOWN;
    return handleInquiry(connection, inquiry, [...called, ...action].join(' '), request, signal);
  }
  switch (called.join(' ')) {
    case 'GET session': {
      const [name, state] = await Promise.all([respondent(), mail()]);
      return [200, { stage, respondent: name, mail: state, savedReplies } satisfies Session];
    }
    case 'GET unanswered':
      return [200, await listing.listUnanswered(signal)];
    case 'GET inquiries': {
      const { inquiries: rows, ...rest } = await listing.list(parseListQuery(searchParams), signal);
      for (const row of rows) {
        const [subject, body] = [row.subject, row.body].map((text) => beginningOf(text, BEGINNING));
        Object.assign(row, { subject, body });
      }
      return [200, { inquiries: rows, ...rest }];
    }
    default:
      return NOTHING;
  }
}

async function handleInquiry(
  connection: Connection,
  inquiry: StoredInquiry,
  called: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Result> {
  const { inquiries, deliveries, respondent } = connection;
  /** Without a reply, a dismissal. */
  async function answer(reply?: string): Promise<Result> {
    const by = await respondent();
    const result = await inquiries.answer(inquiry, { respondent: by, reply });
    if (result.status === 'too-large') return toError(413, TOO_LARGE);
    if (result.status === 'not-found') return UNKNOWN;
    const data = { respondent: by, ...result } satisfies Recorded;
    return [result.status === 'answered' ? 200 : 409, data];
  }
  switch (called) {
    case 'GET inquiries': {
      const [shown = inquiry] = await deliveries.addUndelivered([inquiry]);
      const follow_ups = await inquiries.findFollowUps(inquiry);
      return [200, { ...shown, follow_ups } satisfies ShownInquiry];
    }
    case 'GET inquiries others':
      return [200, await createListing(connection).countOthers(inquiry, signal)];
    case 'POST inquiries reply':
      return answer(parseReply(await readReply(request)));
    case 'POST inquiries dismiss':
      return answer();
    default:
      return NOTHING;
  }
}

/** Only AWS's messages certainly hold no data. */
function toRefusal(error: Error, connection: Connection | undefined): Result {
  if (error instanceof UsageError) return toError(400, error.message);
  const { stage, table } = connection ?? {};
  const failure = describeFailure(
    error,
    createTarget({ stage: stage === 'local' ? undefined : stage, table }),
  );
  if (failure !== error) return toError(502, (failure as Error).message);
  return toError(502, `The table does not answer as expected (${error.name}).`);
}

function parseListQuery(query: URLSearchParams): ListQuery {
  const from = query.get('from');
  const show = SHOWS.find((each) => each === query.get('show'));
  const order = ORDERS.find((each) => each === query.get('order'));
  if (show === undefined || order === undefined) {
    throw new UsageError(`The list must be one of ${SHOWS.join()}, by ${ORDERS.join()}.`);
  }
  const text = query.get('text') ?? '';
  return { show, order, text, from: from === null ? undefined : parseUuid(from, 'from') };
}

async function readReply(request: IncomingMessage): Promise<string> {
  const bytes = await readUpTo(request.iterator({ destroyOnReturn: false }), BODY_LIMIT);
  // Browsers read the response after sending the whole request.
  request.resume();
  if (bytes === undefined) throw new UsageError(TOO_LARGE);
  const reply = parseObject(bytes.toString())?.['reply'];
  if (typeof reply === 'string') return reply;
  throw new UsageError('The request must be a JSON object with the text `reply`.');
}
