import { Hono, type Context } from 'hono';
import { UsageError } from '../lib/terminal/command-line.ts';
import type { StoredInquiry } from '../src/entities/stored-inquiries.ts';
import { parseUuid } from './arguments.ts';
import { findRecorded, getSearch } from './list-routes.ts';
import { fillIn, findBraces } from './page/fill-in.ts';
import { inquiryPage, recordedNotice, type Draft } from './page/inquiry-page.ts';
import { notice } from './page/problem-page.ts';
import type { Markup } from './page/texts.ts';
import { parseReply, TOO_LARGE } from './record-answer.ts';
import { readForm, readUnsent, refuse, type Env } from './respond.ts';
import type { SavedReply } from './saved-replies.ts';

const GONE = {
  title: 'There is no such inquiry',
  text: 'It has expired, was erased or never existed.',
  link: { href: '/', label: 'Open the list' },
};

const NOT_REOPENED = notice('plain', 'It was not reopened', 'It is not dismissed any more.');
const SEND_OR_EMPTY = 'There is a text: send it, or empty the box to dismiss.';

type Act = (context: Context<Env>, inquiry: StoredInquiry) => Promise<Response>;

interface Shown {
  status?: 200 | 400 | 409 | 413 | 422;
  recorded?: Markup | undefined;
  draft?: Draft;
}

/** Reads the inquiry of the address; `act` gets it, unless it is gone. */
const withInquiry = (act: Act) => async (context: Context<Env>) => {
  const id = parseUuid(context.req.param('id') ?? '', 'The id');
  const inquiry = await context.var.connection.inquiries.get(id);
  return inquiry === undefined ? refuseGone(context, id) : act(context, inquiry);
};

export function createInquiryRoutes(savedReplies: SavedReply[]) {
  const routes = new Hono<Env>();

  async function show(
    context: Context<Env>,
    inquiry: StoredInquiry,
    { status = 200, ...shown }: Shown = {},
  ): Promise<Response> {
    const { connection, listing } = context.var;
    const [[withMail = inquiry], follow_ups, others, neighbours, mail] = await Promise.all([
      connection.deliveries.addUndelivered([inquiry]),
      connection.inquiries.findFollowUps(inquiry),
      listing.countOthers(inquiry, context.req.raw.signal),
      listing.findNeighbours(inquiry.id),
      connection.mail(),
    ]);
    const query = context.req.query('marked') === undefined ? '' : getSearch(context);
    const page = {
      inquiry: { ...withMail, follow_ups },
      savedReplies,
      others,
      mail,
      query,
      ...neighbours,
      ...shown,
    };
    return context.html(inquiryPage(context.var.view, page), status);
  }

  routes.get(
    '/inquiries/:id',
    withInquiry(async (context, inquiry) => {
      return show(context, inquiry, { recorded: recordedNotice(await findRecorded(context)) });
    }),
  );

  // The page of a refused text has this address when it is loaded again.
  routes.get('/inquiries/:id/:act', ({ req, redirect }) =>
    redirect(`/inquiries/${req.param('id')}`),
  );

  routes.post(
    '/inquiries/:id/reply',
    withInquiry(async (context, inquiry) => {
      const { reply: text = '', saved, braces } = await readForm(context);
      const chosen = savedReplies[Number(saved)];
      if (chosen !== undefined) {
        const filled = fillIn(chosen.text, inquiry);
        const draft = { text: text.trim() === '' ? filled : `${text.trimEnd()}\n\n${filled}` };
        return show(context, inquiry, { draft });
      }
      const problem = findProblem(text, braces);
      if (problem !== undefined) {
        return show(context, inquiry, { status: 422, draft: { text, ...problem } });
      }
      try {
        return await record(context, inquiry, parseReply(text));
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        return show(context, inquiry, { status: 413, draft: { text, error: error.message } });
      }
    }),
  );

  routes.post(
    '/inquiries/:id/dismiss',
    withInquiry(async (context, inquiry) => {
      const { reply: text = '' } = await readForm(context);
      if (text.trim() === '') return record(context, inquiry);
      return show(context, inquiry, { status: 422, draft: { text, error: SEND_OR_EMPTY } });
    }),
  );

  routes.post(
    '/inquiries/:id/reopen',
    withInquiry(async (context, inquiry) => {
      const { dismissed_at = '' } = await readForm(context);
      if (await context.var.connection.inquiries.reopen(inquiry, dismissed_at)) {
        return context.redirect(`/inquiries/${inquiry.id}?after=${inquiry.id}`, 303);
      }
      return show(context, inquiry, { status: 409, recorded: NOT_REOPENED });
    }),
  );

  /** Records an answer, or without a reply a dismissal, and leads to the next inquiry. */
  async function record(
    context: Context<Env>,
    inquiry: StoredInquiry,
    reply?: string,
  ): Promise<Response> {
    const { member: respondent, connection, listing } = context.var;
    const { inquiries } = connection;
    const { status } = await inquiries.answer(inquiry, { respondent, reply });
    const stored = status === 'not-found' ? undefined : await inquiries.read(inquiry);
    if (stored === undefined) return refuseGone(context, inquiry.id);
    if (status === 'too-large') throw new UsageError(TOO_LARGE);
    // The same answer of the same person: the button was pressed twice.
    if (stored.respondent !== respondent || stored.reply !== reply) {
      return show(context, stored, { status: 409, draft: { text: reply ?? '' } });
    }
    const next = await listing.findNext(inquiry.id);
    const path = next === undefined ? '/' : `/inquiries/${next}`;
    return context.redirect(`${path}?after=${inquiry.id}`, 303);
  }

  return routes;
}

const refuseGone = async (context: Context<Env>, id: string): Promise<Response> =>
  refuse(context, 404, { ...GONE, ...(await readUnsent(context)), id });

/** Sending the same braces once more means that they are wanted. */
function findProblem(text: string, known?: string): Omit<Draft, 'text'> | undefined {
  if (text.trim() === '') return { error: 'Write the answer first.' };
  const braces = findBraces(text).join(', ');
  if (braces === '' || braces === known) return undefined;
  return { error: `Nothing replaces ${braces}: send again if this is meant.`, braces };
}
