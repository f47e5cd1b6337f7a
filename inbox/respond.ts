import type { Context } from 'hono';
import type { Connection } from './connect.ts';
import type { createListing } from './listing.ts';
import type { View } from './page/layout.ts';
import { problemPage, type Problem } from './page/problem-page.ts';

export type InboxConnection = Pick<Connection, 'inquiries' | 'deliveries' | 'mail' | 'respondent'>;

export interface Env {
  Variables: {
    view: View;
    /** `respondent` is who is signed in. */
    connection: InboxConnection;
    listing: ReturnType<typeof createListing>;
  };
}

/** A page that says what to do. Nothing was recorded. */
export const refuse = async (
  context: Context<Env>,
  status: 400 | 401 | 403 | 404 | 413 | 503,
  problem: Problem,
): Promise<Response> => context.html(problemPage(context.get('view'), problem), status);

/** The reply in a request, for the page that refuses it. */
export async function readUnsent({ req }: Context): Promise<Pick<Problem, 'id' | 'kept'>> {
  const [, id] = /^\/inquiries\/([\da-f-]{36})\/reply$/.exec(req.path) ?? [];
  if (id === undefined) return {};
  const { reply } = await req.parseBody().catch((): Record<string, unknown> => ({}));
  return { id, kept: typeof reply === 'string' ? reply : '' };
}
