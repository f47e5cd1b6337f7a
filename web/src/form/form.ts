import { isFailure, type Failure } from '../api.ts';
import type { Inquiry } from '../../../src/contract.ts';
import { ITEM_LIMIT } from '../../../src/limits.ts';
import { ask, button, isComposing } from '../dom.ts';
import type { Drafts } from './drafts.ts';
import { EMPTY, hasText, sizeOf, toRequest } from './fields.ts';
import { begin, reduce, type Action, type FormState } from './form-state.ts';
import { createFormView } from './form-view.ts';
import { hasExpired, isUnsure, send } from './submission.ts';
import type { ViewParts } from '../parts.ts';

interface FormParts extends ViewParts {
  drafts: Drafts;
  refreshList: () => void;
  /** Aborted when the form is removed. */
  signal: AbortSignal;
}

interface Form {
  parts: FormParts;
  view: ReturnType<typeof createFormView>;
  /** Changed by `dispatch` only. */
  state: FormState;
  dispatch: (action: Action) => void;
}

/** Milliseconds. */
const SLOW_AFTER = 6_000;

/** Insecure pages have no `randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

export function createForm(parts: FormParts) {
  const view = createFormView(parts, {
    edit: (texts) => form.dispatch({ type: 'edited', texts }),
    writeAnother: () => writeAnother(form),
    say: (text) => form.dispatch({ type: 'said', status: { kind: 'announced', text } }),
  });
  const keep = (state: FormState): FormState => ({
    ...state,
    isKept: parts.drafts.save(state.draft),
  });
  const form: Form = {
    parts,
    view,
    state: keep(begin(parts.drafts.load() ?? { ...EMPTY, key: newKey() })),
    dispatch(action) {
      const next = reduce(form.state, action, newKey());
      form.state = next.draft === form.state.draft ? next : keep(next);
      view.render(form.state);
    },
  };
  view.render(form.state);
  listen(form);
  return {
    element: view.element,
    backButton: createBackButton(form),
    hasText: (): boolean => hasText(form.state.draft),
    wouldLose: () => wouldLose(form),
    sentElsewhere: (inquiry: Inquiry, key: string) =>
      form.dispatch({ type: 'sent-elsewhere', inquiry, key }),
    /** Finishes what a reload or sign-in has interrupted. */
    async resume(): Promise<void> {
      const { draft } = form.state;
      if (isUnsure(draft)) return transmit(form);
      if (draft.pending !== 'signed-out') return;
      form.dispatch({ type: 'said', status: { kind: 'ready' } });
      view.submit.focus();
    },
  };
}

const wouldLose = ({ state: { isKept, draft } }: Form): boolean => !isKept && hasText(draft);

function listen(form: Form): void {
  const { view, parts, dispatch } = form;
  const { signal } = parts;
  view.element.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form);
  });
  view.element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isComposing(event)) return;
    event.preventDefault();
    view.element.requestSubmit();
  });
  const warnOfLoss = (event: Event): void => {
    if (wouldLose(form)) event.preventDefault();
  };
  addEventListener('beforeunload', warnOfLoss, { signal });
  addEventListener('online', () => dispatch({ type: 'connected' }), { signal });
  // A sign-out in another tab has deleted the text of all tabs.
  const empty = ({ key }: StorageEvent): void => {
    if (key === parts.drafts.deletionKey) dispatch({ type: 'edited', texts: EMPTY });
  };
  addEventListener('storage', empty, { signal });
}

function createBackButton(form: Form): HTMLElement {
  const { element, editor } = form.view;
  const attributes = { class: 'primary back', hidden: true };
  const back = button(form.parts.locale.strings.form.backToForm, attributes, () => {
    writeAnother(form);
    element.scrollIntoView();
    editor.focusFirst();
  });
  new IntersectionObserver((entries) => {
    back.hidden = entries.at(-1)?.isIntersecting ?? true;
  }).observe(element);
  return back;
}

async function submit(form: Form): Promise<void> {
  const { view, state, dispatch } = form;
  const { draft, failure, isSending, isLimited, sent } = state;
  if (isSending || isLimited || sent !== undefined) return;
  if (failure?.kind === 'signed-out') return signIn(form);
  const isMissing = draft.body.trim() === '';
  if (isMissing || failure?.kind === 'too-large' || sizeOf(draft) > ITEM_LIMIT) {
    if (isMissing) dispatch({ type: 'found-missing' });
    view.editor.pointAtMessage();
  } else if (view.editor.isValid()) {
    await transmit(form);
  }
}

async function signIn(form: Form): Promise<void> {
  const { parts, state, dispatch } = form;
  const mayBeDone = isUnsure(state.draft);
  dispatch({ type: 'signing-in', isSending: true });
  await parts.signIn().catch(() => fail(form, { kind: 'unreachable', mayBeDone }));
  dispatch({ type: 'signing-in', isSending: false });
}

async function transmit(form: Form): Promise<void> {
  const { parts, dispatch } = form;
  const { draft } = form.state;
  const { pending, key } = draft;
  if (typeof pending === 'number' && hasExpired(draft, Date.now())) {
    dispatch({ type: 'renewed' });
    dispatch({ type: 'said', status: { kind: 'old-attempt', at: pending } });
    return parts.refreshList();
  }
  dispatch({ type: 'started', at: Date.now() });
  const timer = setTimeout(() => dispatch({ type: 'said', status: { kind: 'slow' } }), SLOW_AFTER);
  const { api, locale } = parts;
  const request = async () => api.create(toRequest(draft), key, locale.language);
  const result = await send(request, isUnsure(draft));
  clearTimeout(timer);
  if (!isFailure(result)) finish(form, result, key);
  else if (result.kind === 'reused') await askAboutVersions(form, result);
  else fail(form, result);
}

/** The key was used for another version of the draft. */
async function askAboutVersions(form: Form, failure: Failure): Promise<void> {
  const { parts, view, dispatch } = form;
  const { ask: questions, failures } = parts.locale.strings;
  dispatch({ type: 'failed', failure, at: Date.now() });
  parts.refreshList();
  const answer = await ask(view.element, { title: failures.reused, text: failures.textKept }, [
    ['send', questions.sendVersion],
    ['edit', questions.goOnEditing],
  ]);
  if (answer !== 'send') return view.editor.focusMessage();
  dispatch({ type: 'renewed' });
  await transmit(form);
}

function finish({ parts, view, dispatch }: Form, inquiry: Inquiry, key: string): void {
  const { activeElement } = document;
  const isElsewhere = activeElement !== document.body && !view.element.matches(':focus-within');
  dispatch({ type: 'sent', inquiry });
  parts.onSent?.(inquiry, key);
  // A user who has moved on keeps the focus.
  if (!isElsewhere) return view.focusSent();
  const { title } = parts.locale.strings.sent;
  dispatch({ type: 'said', status: { kind: 'announced', text: title } });
}

function fail({ parts, view, dispatch }: Form, failure: Failure): void {
  dispatch({ type: 'failed', failure, at: Date.now() });
  if (failure.kind === 'limit') {
    setTimeout(() => dispatch({ type: 'hour-ended' }), (failure.retryAfter ?? 0) * 1_000);
  }
  parts.onFailed?.(failure);
  // The message above the button may have moved it out of the window.
  view.submit.scrollIntoView({ block: 'nearest' });
}

function writeAnother({ view, state, dispatch }: Form): void {
  if (state.sent === undefined) return;
  dispatch({ type: 'another' });
  view.editor.focusFirst();
}
