import { Hono, type Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { INQUIRY_ID } from '../src/limits.ts';
import { SHOWS, type ListQuery } from './listing.ts';
import { recordedNotice } from './page/inquiry-page.ts';
import { listPage, searchPage } from './page/list-page.ts';
import { readForm, type Env } from './respond.ts';

const SEARCH = 'inbox_search';
/** UTF-16 units: a cookie has 4 KB. */
const LONGEST_SEARCH = 200;

export function createListRoutes() {
  const routes = new Hono<Env>();

  routes.get('/', async (context) => {
    const { listing } = context.var;
    const { show: shown, order: ordered, from } = context.req.query();
    const show = SHOWS.find((each) => each === shown) ?? 'unanswered';
    const usual = show === 'unanswered' ? 'oldest' : 'newest';
    const order = ordered === 'oldest' || ordered === 'newest' ? ordered : usual;
    const query: ListQuery = { show, order, text: '', from: toId(from) };
    const { signal } = context.req.raw;
    const last = await findRecorded(context);
    const [page, unanswered] = await Promise.all([
      listing.list(query, signal),
      listing.countUnanswered(signal, last?.reply_at && last.id),
    ]);
    const recorded = recordedNotice(last);
    return context.html(listPage(context.var.view, { query, listing: page, unanswered, recorded }));
  });

  // What is searched for can be an address, so it is in no URL.
  routes.post('/search', async (context) => {
    const { text = '' } = await readForm(context);
    const value = text.trim().slice(0, LONGEST_SEARCH).toWellFormed();
    setCookie(context, SEARCH, value, { path: '/', httpOnly: true, sameSite: 'Strict' });
    return context.redirect('/search', 303);
  });
  routes.get('/search', async (context) => {
    const { signal } = context.req.raw;
    const { from } = context.req.query();
    const text = getSearch(context);
    const query: ListQuery = { show: 'all', order: 'newest', text, from: toId(from) };
    const listing = text === '' ? { inquiries: [] } : await context.var.listing.list(query, signal);
    return context.html(searchPage(context.var.view, { query, listing }));
  });

  return routes;
}

export const getSearch = (context: Parameters<typeof getCookie>[0]): string =>
  getCookie(context, SEARCH) ?? '';

/** @returns The inquiry that the page before has answered or reopened. */
export async function findRecorded({ req, var: { connection } }: Context<Env>) {
  const after = toId(req.query('after'));
  return after === undefined ? undefined : connection.inquiries.get(after);
}

const toId = (text: string | undefined): string | undefined =>
  text !== undefined && INQUIRY_ID.test(text) ? text : undefined;
