/**
 * The operators' page (inbox/page) and its API, on the loopback address. The address gives access to the inbox: it ends in
 * a secret of this run, which the page sends with each request. docs/adr/0082
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ApiError, badRequest, methodNotAllowed } from '../src/errors.ts';
import { ITEM_LIMIT } from '../src/limits.ts';
import { toMailbox } from '../src/mailbox.ts';
import { beginningOf } from '../web/ui/format.ts';
import { parseObject, UsageError } from '../lib/command-line.ts';
import { buildPageWhenStale, outputOf } from '../lib/page-build.ts';
import { startPageServer } from '../lib/page-server.ts';
import { readUpTo } from '../lib/read-up-to.ts';
import { describeFailure } from '../lib/aws.ts';
import { parseUuid } from './arguments.ts';
import type { Connection, MailState } from './connect.ts';
import type { SavedReply } from './saved-replies.ts';
import { createSearch } from './search.ts';
import {
  parseReply,
  TOO_LARGE,
  type AnswerResult,
  type StoredInquiry,
  type Undelivered,
} from './store.ts';

const PAGE = join(import.meta.dirname, 'page');

/** Inquiries in one response of the list. */
const PAGE_SIZE = 100;
/** What one response of a search reads at most: rows, and milliseconds after which it reads no further. */
const SEARCH_ROWS = 5_000;
const SEARCH_TIME = 3_000;
/** Ids of unanswered inquiries in one response. */
const MANY = 2_000;
/** UTF-16 units of a subject and of a text in the list; one inquiry has all of it. */
const BEGINNING = 300;

/** An inquiry with what its owner gets by mail. `canMail`: whether mail can be sent to the owner's address. */
export type PageInquiry = StoredInquiry & Partial<Undelivered> & { readonly canMail: boolean };

/** Responses of the API by path. Errors: `{ error, message }`. */
export interface InboxApi {
  '/api/session': {
    readonly stage: string;
    readonly table: string;
    readonly respondent: string;
    readonly mail: MailState;
    readonly savedReplies: readonly SavedReply[];
  };
  /** `next`: where the rest begins, the value of `from`. `searched`: how many were read. Subjects and texts are cut. */
  '/api/inquiries': {
    readonly inquiries: readonly PageInquiry[];
    readonly next?: string;
    readonly searched: number;
  };
  /** The ids of the unanswered ones, newest first; not `isAll` of them where there are many. */
  '/api/unanswered': { readonly ids: readonly string[]; readonly isAll: boolean };
  '/api/inquiries/ID': PageInquiry;
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
  const server = await startPageServer<{ readonly origin: string }>({
    port,
    folder: outputOf(PAGE),
    openerPolicy: 'same-origin',
    find: () => undefined,
    policy: () => [
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ],
    handle(request, response, { origin }) {
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
  server.configure({ origin: server.url });
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

/** The rows of pages, until the page has closed its connection. */
async function* rowsOf<Row>(
  pages: AsyncIterable<readonly Row[]>,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  for await (const page of pages) {
    if (signal.aborted) return;
    yield* page;
  }
}

function createApi(
  { stage, table, inbox, respondent, mail }: PageConnection,
  savedReplies: readonly SavedReply[],
): Handler {
  /** Adds what became of the mails; only answered ones are asked for. */
  async function describe(rows: readonly StoredInquiry[]): Promise<PageInquiry[]> {
    const answered = rows.flatMap(({ id, reply }) => (reply === undefined ? [] : [id]));
    const failures = await inbox.readUndelivered(answered);
    return rows.map((row) =>
      Object.assign(row, { canMail: toMailbox(row.email) !== undefined }, failures.get(row.id)),
    );
  }

  /** Up to PAGE_SIZE inquiries, or what a search finds in as many as it may read. */
  async function list(
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<InboxApi['/api/inquiries']> {
    const { text, ...filter } = parseListQuery(query);
    const isFound = createSearch(text);
    const end = performance.now() + SEARCH_TIME;
    const found: StoredInquiry[] = [];
    let searched = 0;
    let last: string | undefined;
    let next: string | undefined;
    for await (const row of rowsOf(inbox.listInFull(filter), signal)) {
      const isOver = text !== '' && (searched === SEARCH_ROWS || performance.now() > end);
      if (searched > 0 && (isOver || found.length === PAGE_SIZE)) {
        next = last;
        break;
      }
      last = row.id;
      searched += 1;
      if (isFound(row)) found.push(row);
    }
    const inquiries = (await describe(found)).map((row) =>
      Object.assign(row, {
        subject: beginningOf(row.subject, BEGINNING),
        body: beginningOf(row.body, BEGINNING),
      }),
    );
    return { inquiries, searched, ...(next !== undefined && { next }) };
  }

  /** The ids alone, which costs little: the page asks every few seconds. */
  async function listUnanswered(signal: AbortSignal): Promise<InboxApi['/api/unanswered']> {
    const ids: string[] = [];
    for await (const { id } of rowsOf(inbox.list({ isAnswered: false }), signal)) {
      if (ids.length === MANY) return { ids, isAll: false };
      ids.push(id);
    }
    return { ids, isAll: true };
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

  return async (request, { pathname, searchParams }, signal) => {
    const path =
      /^\/api\/(?:session|unanswered|inquiries(?:\/(?<named>[^/]+)(?:\/(?<action>reply|dismiss))?)?)$/.exec(
        pathname,
      );
    if (path === null) throw new ApiError(404, 'NOT_FOUND', 'There is nothing at this path.');
    const { named, action } = path.groups ?? {};
    const method = action === undefined ? 'GET' : 'POST';
    if (request.method !== method) throw methodNotAllowed(method);
    if (pathname === '/api/session') return { data: await describeSession() };
    if (pathname === '/api/unanswered') return { data: await listUnanswered(signal) };
    if (named === undefined) return { data: await list(searchParams, signal) };
    const id = parseUuid(named, 'The id');
    if (action !== undefined) {
      const { reply } = await readJson(request);
      if (action === 'dismiss') return answer(id);
      if (typeof reply !== 'string') throw badRequest('The field `reply` must be a string.');
      return answer(id, parseReply(reply));
    }
    const inquiry = await inbox.get(id);
    if (inquiry === undefined) throw unknownInquiry();
    const [described = inquiry] = await describe([inquiry]);
    return { data: described };
  };
}

/** @throws ApiError 400, or UsageError, naming the parameter that is malformed. */
function parseListQuery(query: URLSearchParams) {
  const { show = 'unanswered', order = 'newest', text = '', from } = Object.fromEntries(query);
  if (show !== 'unanswered' && show !== 'answered' && show !== 'all') {
    throw badRequest('The parameter `show` must be unanswered, answered or all.');
  }
  if (order !== 'newest' && order !== 'oldest') {
    throw badRequest('The parameter `order` must be newest or oldest.');
  }
  const place = from === undefined ? undefined : parseUuid(from, 'The parameter `from`');
  return {
    isAnswered: show === 'all' ? undefined : show === 'answered',
    order,
    text,
    ...(order === 'newest' ? { before: place } : { after: place }),
  } as const;
}

/** Bytes of a request: a reply of 400 KB of which each character is escaped, and room. */
const BODY_LIMIT = 8 * ITEM_LIMIT;

/** Reads a JSON object, which a form of another page cannot send. @throws ApiError 400, 413 or 415. */
async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json.');
  }
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
