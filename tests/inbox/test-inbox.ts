import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, onTestFinished } from 'vitest';
import type { Access } from '../../inbox/access.ts';
import { createInbox } from '../../inbox/app.ts';
import { connectLocally, type Connection } from '../../inbox/connect.ts';
import { main } from '../../inbox/main.ts';
import type { SavedReply } from '../../inbox/saved-replies.ts';
import { servePage } from '../../inbox/serve-page.ts';
import { LOCAL } from '../../lib/running-stack.ts';
import { createDeliveryEntity } from '../../src/entities/delivery.ts';
import { createInquiryEntity } from '../../src/entities/inquiry.ts';
import {
  createStoredInquiries,
  type StoredInquiries,
  type StoredInquiry,
} from '../../src/entities/stored-inquiries.ts';
import { openTable } from '../../src/entities/table.ts';
import { startAws, stubAws } from '../local/aws.ts';
import { createFolder, writeState } from '../local/data-folder.ts';
import { SUB } from '../helpers/events.ts';
import { pass, startFaultProxy, type Fault, type Plan } from '../resilience/fault-proxy.ts';
import { answerById, toInquiry, type NewInquiry } from '../function/test-inquiries.ts';
import { run, transcribe, type IoOptions } from '../local/io.ts';
import { createOwnTable, readTable, removeRow, toEnvironment } from '../helpers/own-table.ts';

export const containing = (text: string): unknown => expect.stringContaining(text);

/** What a page says of interest: headings, notices, errors, and texts in boxes. */
const textsOf = (html: string): string =>
  Array.from(
    html.matchAll(
      /<(h1|h2|textarea|p class="(?:lead|error)|p class="notice-title)[^>]*>(.*?)<\/[a-z0-9]+>|status"[^>]*>\s*<p>(.*?)<\/p>/gs,
    ),
    ([, , text = '', status = text]) =>
      status
        .replaceAll(/<[^>]+>/g, '')
        .trim()
        .slice(0, 120),
  )
    .filter((text) => text !== '')
    .join(' | ');

export const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Imitates AWS until the test ends, with a local engine. @returns Its answers. */
export async function startStage(engine: string) {
  const { state, env, close } = await startAws();
  onTestFinished(close);
  stubAws({ ...toEnvironment(engine), AWS_ENDPOINT_URL: env.AWS_ENDPOINT_URL });
  return state;
}

/** Removes progress, and what readline writes. */
const ESCAPES = /\r.\[K([\d,]+ inquir\w+ …)?|.\[(\d+G|0J)/g;

/** What follows the reference; a stopped clock makes the reference the same each time. */
export const END_OF_ID = /(?<=[\da-f]{8}-[\da-f]{4})(-[\da-f]{4}){2}-[\da-f]{12}/gi;

export type OwnInbox = Awaited<ReturnType<typeof openInbox>>;

/**
 * A table, a stack's data folder and the inbox on it, behind a fault proxy.
 *
 * @param options - `pageSize` limits pages of queries.
 */
export async function openInbox({
  engine,
  pageSize,
  now = () => Date.now(),
}: { engine?: string; pageSize?: number; now?: () => number } = {}) {
  const own = await createOwnTable(engine);
  const proxy = await startFaultProxy(own.engine, pageSize);
  const folder = createFolder();
  writeState(folder, { engine: proxy.url, table: own.name });
  const connection = connectLocally(folder);
  onTestFinished(proxy.close);
  const entity = createInquiryEntity(own.name);
  const inbox = createStoredInquiries(openTable(own.name, { endpoint: proxy.url, ...LOCAL }), now);

  /** Runs a line of `npm run inbox`, by default on this table. */
  async function runLine(line: string, options?: IoOptions) {
    const place = /--(stage|data)\b/.test(line) ? '' : ` --data '${folder}'`;
    const { code, stdout, stderr: said } = await run(main, line + place, options);
    const stderr = said.replaceAll(ESCAPES, '');
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\r\n]|\p{Bidi_Control}/u);
    return { code, stdout, stderr };
  }

  return {
    ...own,
    folder,
    url: proxy.url,
    connections: proxy.connections,
    connection,
    inbox,
    answer: answerById(inbox),
    deliveries: createDeliveryEntity(own.name, own.client),
    run: runLine,
    /** For a golden file; the random parts of names are left out. */
    transcribe: async (lines: Parameters<typeof transcribe>[1]) =>
      (await transcribe(runLine, lines))
        .replaceAll(folder, 'FOLDER')
        .replaceAll(/(?<=^[$%] .*--(?:data|file|out) )'(FOLDER[^']*)'/gm, '$1')
        .replaceAll(own.name, 'TABLE')
        .replaceAll(END_OF_ID, '…'),
    /** Stores SUB's inquiry of so many milliseconds ago, or of `at`. */
    async add(age: number, change: NewInquiry = {}): Promise<StoredInquiry> {
      const row = toInquiry({ at: now() - age, cognito_sub: SUB, ...change });
      await own.client.send(new PutCommand(entity.put(row).params()));
      return row;
    },
    /** Serves the page as olga's until the test ends. @returns The address that opens it. */
    async serve(change: Partial<Connection> = {}, savedReplies: SavedReply[] = []) {
      const connect = (): Connection => ({
        ...connection,
        respondent: async () => 'olga',
        mail: async () => 'sent',
        ...change,
      });
      const { close, address } = await servePage(connect, { savedReplies });
      onTestFinished(close);
      return address;
    },
    scan: async (table = own.name) => readTable(own.client, table),
    remove: (row: StoredInquiry) => removeRow(own.client, own.name, row),
    /** Plans the requests of inbox and verbs for some operations, and counts only these. */
    meet(plan: Plan, ...operations: string[]): void {
      let requests = 0;
      proxy.plan = (_, operation) =>
        operations.includes(operation) ? plan(requests++, operation) : undefined;
    },
  };
}

/** Opens the pages on a table of their own. */
export async function openPages(
  origin: string,
  access: Access,
  change: Partial<StoredInquiries> = {},
) {
  const own = await openInbox();
  const logged: object[] = [];
  const connect = (): Connection => ({
    ...own.connection,
    inquiries: { ...own.inbox, ...change },
    mail: async () => 'sent',
  });
  const app = createInbox({
    origin,
    stage: 'local',
    access,
    connect,
    savedReplies: [{ title: 'Thanks', text: 'Hello {name}, thank you ({reference}).' }],
    timeZone: 'UTC',
    log: (failure) => logged.push(failure),
  });
  /** @param headers - An empty one is left out. */
  async function ask(
    request: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ) {
    const [method = '', path = ''] = request.split(' ');
    const all = { host: new URL(origin).host, origin: method === 'GET' ? '' : origin, ...headers };
    const sent = Object.entries(all).filter(([, value]) => value !== '');
    const response = await app.request(
      new Request(origin + path, {
        method,
        headers: sent,
        ...(form && { body: new URLSearchParams(form) }),
        ...(signal && { signal }),
      }),
    );
    const html = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
      cookies: response.headers.getSetCookie(),
      html,
      says: textsOf(html),
    };
  }
  return { ...own, ask, logged };
}

export const beforehand =
  (act: () => Promise<unknown>, then = pass): Fault =>
  async (exchange) => {
    await act();
    await then(exchange);
  };
