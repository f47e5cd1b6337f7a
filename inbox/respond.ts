import type { Context } from 'hono';
import type { Connection } from './connect.ts';
import type { createListing } from './listing.ts';
import type { View } from './page/layout.ts';
import { problemPage, type Problem } from './page/problem-page.ts';

export type InboxConnection = Pick<Connection, 'inquiries' | 'deliveries' | 'mail'>;

export interface Env {
  Variables: {
    view: View;
    /** Who is signed in, and answers. */
    member: string;
    connection: InboxConnection;
    listing: ReturnType<typeof createListing>;
  };
}

/** Shows what to do. Nothing was recorded. */
export const refuse = async (
  context: Context<Env>,
  status: 400 | 401 | 403 | 404 | 413 | 503,
  problem: Problem,
): Promise<Response> => context.html(problemPage(context.get('view'), problem), status);

/** The texts of a form, without files. */
export async function readForm({ req }: Context): Promise<Partial<Record<string, string>>> {
  const fields = Object.entries(await req.parseBody());
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string');
  return Object.fromEntries(texts);
}

/** The reply in a request, for the page that refuses it. */
export async function readUnsent(context: Context): Promise<Pick<Problem, 'id' | 'kept'>> {
  const [, id] = /^\/inquiries\/([\da-f-]{36})\/reply$/.exec(context.req.path) ?? [];
  if (id === undefined) return {};
  const { reply = '' } = await readForm(context).catch(() => ({ reply: '' }));
  return { id, kept: reply };
}
