/**
 * The operators' page (inbox/page) and its API, on the loopback address. The address gives access to the inbox: it ends in
 * a secret of this run, which the page sends with each request. docs/adr/0082
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { IndexedInquiry } from '../src/entities/inquiry-index.ts';
import { ApiError, badRequest, methodNotAllowed } from '../src/errors.ts';
import { beginningOf } from '../web/ui/format.ts';
import { parseObject, UsageError } from '../lib/command-line.ts';
import { buildPageWhenStale, outputOf } from '../lib/page-build.ts';
import { startPageServer } from '../lib/page-server.ts';
import { describeFailure } from '../lib/aws.ts';
import { parseUuid } from './arguments.ts';
import type { Connection } from './connect.ts';
import { parseReply, TOO_LARGE } from './store.ts';
import type { AnswerResult, InquirySummary, StoredInquiry } from './store.ts';

const PAGE = join(import.meta.dirname, 'page');

/** Inquiries in one response of the list. */
const PAGE_SIZE = 200;
/** UTF-16 units of a subject in the list; one inquiry has all of it. */
const SUBJECT_LENGTH = 300;

/** Responses of the API by path. Errors: `{ error, message }`. */
export interface InboxApi {
  '/api/session': { readonly stage: string; readonly table: string; readonly respondent: string };
  /** `next`: the value of `before` for the older ones. */
  '/api/inquiries': { readonly inquiries: readonly InquirySummary[]; readonly next?: string };
  '/api/inquiries/ID': StoredInquiry;
  /** With 200 and with 409, which is `already-answered`. */
  '/api/inquiries/ID/reply': Exclude<AnswerResult, { status: 'not-found' | 'too-large' }> & {
    readonly respondent: string;
  };
}

/** What the page needs of a connection. */
export type PageConnection = Pick<Connection, 'stage' | 'table' | 'inbox' | 'respondent'>;

/**
 * Builds the page when it is stale and serves it.
 *
 * @param port - 0 for any free one.
 * @returns `url` ends in the secret.
 * @throws Error with `code` EADDRINUSE and `port` when the port is taken.
 */
export async function serveInbox(connection: PageConnection, port = 0) {
  await buildPageWhenStale(PAGE);
  return startInboxServer(connection, port);
}

/** Serves the page as it is built, and its API; see {@link serveInbox}. */
export async function startInboxServer(connection: PageConnection, port = 0) {
  const secret = randomBytes(32).toString('base64url');
  const api = createApi(connection);
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
        if (from !== origin) throw new ApiError(403, 'WRONG_ORIGIN', 'The request is from another page.');
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
  new ApiError(404, 'NOT_FOUND', 'There is no such inquiry: it has expired, was erased or never existed.');

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

function createApi({ stage, table, inbox, respondent }: PageConnection): Handler {
  /** Up to PAGE_SIZE inquiries; stops reading when the page has closed the connection. */
  const list = async (query: URLSearchParams, signal: AbortSignal): Promise<InboxApi['/api/inquiries']> => {
    const found: IndexedInquiry[] = [];
    for await (const page of inbox.list(parseListQuery(query))) {
      found.push(...page);
      if (found.length > PAGE_SIZE || signal.aborted) break;
    }
    const shown = found.slice(0, PAGE_SIZE);
    const inquiries = (await Array.fromAsync(inbox.summarize(shown)))
      .flat()
      .map((row) => Object.assign(row, { subject: beginningOf(row.subject, SUBJECT_LENGTH) }));
    const last = shown.at(-1);
    return { inquiries, ...(found.length > PAGE_SIZE && last !== undefined && { next: last.id }) };
  };

  const answer = async (id: string, reply?: string): Promise<Result> => {
    const by = await respondent();
    const result = await inbox.answer(id, { respondent: by, reply });
    if (result.status === 'too-large') throw new ApiError(413, 'TOO_LARGE', TOO_LARGE);
    if (result.status === 'not-found') throw unknownInquiry();
    return { status: result.status === 'answered' ? 200 : 409, data: { respondent: by, ...result } };
  };

  return async (request, { pathname, searchParams }, signal) => {
    const path = /^\/api\/(?:session|inquiries(?:\/(?<named>[^/]+)(?:\/(?<action>reply|dismiss))?)?)$/.exec(
      pathname,
    );
    if (path === null) throw new ApiError(404, 'NOT_FOUND', 'There is nothing at this path.');
    const { named, action } = path.groups ?? {};
    const method = action === undefined ? 'GET' : 'POST';
    if (request.method !== method) throw methodNotAllowed(method);
    if (pathname === '/api/session') return { data: { stage, table, respondent: await respondent() } };
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
    return { data: inquiry };
  };
}

/** @throws ApiError 400, or UsageError, naming the parameter that is malformed. */
function parseListQuery(query: URLSearchParams) {
  const { show = 'unanswered', email, before } = Object.fromEntries(query);
  if (show !== 'unanswered' && show !== 'answered' && show !== 'all') {
    throw badRequest('The parameter `show` must be unanswered, answered or all.');
  }
  if (email === '') throw badRequest('The parameter `email` must not be empty.');
  return {
    isAnswered: show === 'all' ? undefined : show === 'answered',
    email,
    before: before === undefined ? undefined : parseUuid(before, 'The parameter `before`'),
  };
}

/** Reads a JSON object, which a form of another page cannot send. @throws ApiError 400 or 415. */
async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/json.');
  }
  const body = parseObject(await text(request));
  if (body === undefined) throw badRequest('The request body must be a JSON object.');
  return body;
}
