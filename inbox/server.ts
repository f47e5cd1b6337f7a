/**
 * The operators' page (inbox/page) and its API, on the loopback address. The address gives access to the inbox: it ends in
 * a secret of this run, which the page sends with each request. docs/adr/0082
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ApiError, badRequest } from '../src/errors.ts';
import { ITEM_LIMIT } from '../src/limits.ts';
import { beginningOf } from '../web/ui/format.ts';
import { parseObject, UsageError } from '../lib/command-line.ts';
import { buildPageWhenStale, outputOf } from '../lib/page-build.ts';
import { startPageServer } from '../lib/page-server.ts';
import { readUpTo } from '../lib/read-up-to.ts';
import { describeFailure } from '../lib/aws.ts';
import { parseUuid } from './arguments.ts';
import type { Connection, MailState } from './connect.ts';
import { createListing, type ListQuery } from './listing.ts';
import type { SavedReply } from './saved-replies.ts';
import { parseReply, TOO_LARGE, type AnswerResult, type ShownInquiry } from './store.ts';

const PAGE = join(import.meta.dirname, 'page');

/** UTF-16 units of a subject and of a text in the list; one inquiry has all of it. */
const BEGINNING = 160;

/** Responses of the API by path. Errors: `{ error, message }`. */
export interface InboxApi {
  '/api/session': {
    readonly stage: string;
    readonly table: string;
    readonly respondent: string;
    readonly mail: MailState;
    readonly savedReplies: readonly SavedReply[];
  };
  /** `next`: where the rest begins, the value of `from`. Subjects and texts are cut. */
  '/api/inquiries': { readonly inquiries: readonly ShownInquiry[]; readonly next?: string };
  /** The ids of the unanswered ones, newest first; not `isAll` of them where there are many. */
  '/api/unanswered': { readonly ids: readonly string[]; readonly isAll: boolean };
  '/api/inquiries/ID': ShownInquiry;
  /** With 200 and with 409, which is `already-answered`. */
  '/api/inquiries/ID/reply': Exclude<AnswerResult, { status: 'not-found' | 'too-large' }> & {
    readonly respondent: string;
  };
}

/** What the page needs of a connection. */
export type PageConnection = Pick<Connection, 'stage' | 'table' | 'inbox' | 'respondent' | 'mail'>;

interface Options {
  /** 0, the default: any free one. */
  readonly port?: number;
  /** Texts that the page offers for replies. */
  readonly savedReplies?: readonly SavedReply[];
}

/**
 * Builds the page when it is stale and serves it.
 *
 * @returns `url` ends in the secret.
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function serveInbox(connection: PageConnection, options?: Options) {
  await buildPageWhenStale(PAGE);
  return startInboxServer(connection, options);
}

/** Serves the page as it is built, and its API; see {@link serveInbox}. */
export async function startInboxServer(
  connection: PageConnection,
  { port = 0, savedReplies = [] }: Options = {},
) {
  const secret = randomBytes(32).toString('base64url');
  const api = createApi(connection, savedReplies);
  const folder = outputOf(PAGE);
  const server = await startPageServer({
    port,
    folder,
    configure: () => connection,
    find: (path) =>
      existsSync(join(folder, path))
        ? undefined
        : {
            type: 'text/html; charset=utf-8',
            data: readFileSync(join(folder, 'index.html'), 'utf8'),
          },
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
      void respond(request, response, connection, async (...parameters) => {
        if (!isEqual(request.headers.authorization ?? '', `Bearer ${secret}`)) {
          throw new ApiError(403, 'WRONG_ADDRESS', 'The secret in the address is wrong.');
        }
        // Browsers send it with every POST, and with every request from another origin.
        const { origin: from = request.method === 'GET' ? origin : undefined } = request.headers;
        if (from !== origin) {
          throw new ApiError(403, 'WRONG_ORIGIN', 'The request is from another page.');
        }
        return api(...parameters);
      });
      return true;
    },
  });
  return { url: `${server.url}/#${secret}`, close: server.close };
}

/** Compares in constant time. */
const isEqual = (a: string, b: string): boolean =>
  timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));

const unknownInquiry = (): ApiError =>
  new ApiError(
    404,
    'NOT_FOUND',
    'There is no such inquiry: it has expired, was erased or never existed.',
  );

interface Result {
  readonly status?: number;
  readonly data: object;
}

type Handler = (request: IncomingMessage, target: URL, signal: AbortSignal) => Promise<Result>;

/** Sends what the handler returns or throws. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  connection: PageConnection,
  handle: Handler,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const send = ({ status = 200, data }: Result, headers = {}) =>
    void response
      .writeHead(status, {
        ...headers,
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      })
      .end(JSON.stringify(data));
  try {
    send(await handle(request, new URL(request.url ?? '/', 'http://127.0.0.1'), gone.signal));
  } catch (error) {
    const { status, code, message, headers } = toApiError(error, connection);
    send({ status, data: { error: code, message } }, headers);
  }
}

/** What an operator can do about an error of AWS; of any other only its name, since its message may hold data. */
function toApiError(error: unknown, { stage, table }: PageConnection): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof UsageError) return badRequest(error.message);
  const failure = describeFailure(error, { stage: stage === 'local' ? undefined : stage, table });
  const { name, message } = failure instanceof Error ? failure : new Error();
  const known = failure === error ? `The table does not answer as expected (${name}).` : message;
  return new ApiError(502, 'TABLE_ERROR', known);
}

function createApi(
  { stage, table, inbox, respondent, mail }: PageConnection,
  savedReplies: readonly SavedReply[],
): Handler {
  const listing = createListing(inbox);

  async function list(
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<InboxApi['/api/inquiries']> {
    const { inquiries, ...rest } = await listing.list(parseListQuery(query), signal);
    for (const row of inquiries) {
      Object.assign(row, {
        subject: beginningOf(row.subject, BEGINNING),
        body: beginningOf(row.body, BEGINNING),
      });
    }
    return { inquiries, ...rest };
  }

  async function readOne(id: string): Promise<InboxApi['/api/inquiries/ID']> {
    const inquiry = await inbox.get(id);
    if (inquiry === undefined) throw unknownInquiry();
    const [shown = inquiry] = await inbox.addUndelivered([inquiry]);
    return shown;
  }

  const answer = async (id: string, reply?: string): Promise<Result> => {
    const by = await respondent();
    const result = await inbox.answer(id, { respondent: by, reply });
    if (result.status === 'too-large') throw new ApiError(413, 'TOO_LARGE', TOO_LARGE);
    if (result.status === 'not-found') throw unknownInquiry();
    return {
      status: result.status === 'answered' ? 200 : 409,
      data: { respondent: by, ...result },
    };
  };

  async function describeSession(): Promise<InboxApi['/api/session']> {
    const [name, state] = await Promise.all([respondent(), mail()]);
    return { stage, table, respondent: name, mail: state, savedReplies };
  }

  async function answerAsAsked(request: IncomingMessage, id: string, action: string) {
    const { reply } = await readJson(request);
    if (action === 'dismiss') return answer(id);
    if (typeof reply !== 'string') throw badRequest('The field `reply` must be a string.');
    return answer(id, parseReply(reply));
  }

  return async (request, { pathname, searchParams }, signal) => {
    const [resource, id, action] = pathname.split('/').slice(2);
    switch (`${request.method} ${resource}${id ? '/ID' : ''}${action ? `/${action}` : ''}`) {
      case 'GET session':
        return { data: await describeSession() };
      case 'GET unanswered':
        return { data: await listing.listUnanswered(signal) };
      case 'GET inquiries':
        return { data: await list(searchParams, signal) };
      case 'GET inquiries/ID':
        return { data: await readOne(parseUuid(`${id}`, 'The id')) };
      case 'POST inquiries/ID/reply':
      case 'POST inquiries/ID/dismiss':
        return answerAsAsked(request, parseUuid(`${id}`, 'The id'), `${action}`);
      default:
        throw new ApiError(404, 'NOT_FOUND', 'There is nothing at this path.');
    }
  };
}

const SHOWS = ['unanswered', 'answered', 'all', 'undelivered'] as const;
const ORDERS = ['newest', 'oldest', 'answered'] as const;

/** @throws ApiError 400, or UsageError. */
function parseListQuery(query: URLSearchParams): ListQuery {
  const { text = '', from, ...choices } = Object.fromEntries(query);
  const show = SHOWS.find((each) => each === choices['show']);
  const order = ORDERS.find((each) => each === choices['order']);
  if (show === undefined || order === undefined) {
    throw badRequest(`The list must be one of ${SHOWS.join(', ')}, by ${ORDERS.join(', ')}.`);
  }
  return { show, order, text, from: from === undefined ? undefined : parseUuid(from, 'from') };
}

/** Bytes of a request: a reply of 400 KB of which each character is escaped, and room. */
const BODY_LIMIT = 8 * ITEM_LIMIT;

/** Reads a JSON object. @throws ApiError 400 or 413. */
async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readUpTo(request.iterator({ destroyOnReturn: false }), BODY_LIMIT);
  if (bytes === undefined) {
    // Browsers read no response before they have sent all of the request.
    request.resume();
    throw new ApiError(413, 'TOO_LARGE', TOO_LARGE);
  }
  const body = parseObject(bytes.toString());
  if (body === undefined) throw badRequest('The request body must be a JSON object.');
  return body;
}
