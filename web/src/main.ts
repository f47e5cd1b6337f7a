import { createApi, withFirstPage, type Api } from './api.ts';
import { inLanguage, isLanguage, LANGUAGES, type Language } from '../../text/languages.ts';
import { INQUIRY_ID, toReference } from '../../src/limits.ts';
import { ConfigError, loadConfig, type Config } from './config.ts';
import { removeDeletedDrafts } from './form/drafts.ts';
import { button, div, h, live, notice, p } from './dom.ts';
import { chooseLanguage, loadLocale, type Locale } from './languages/locale.ts';
import { isolate } from './languages/messages.ts';
import { createSignIn, type SignInResult } from './session/session.ts';
import { createPrivacyLink } from './privacy-link.ts';
import { attempt } from './storage.ts';
import { askToLeave, createView, type View } from './view.ts';

const LANGUAGE_KEY = 'inquiries.language';
/** Milliseconds. */
const CONFIG_TIMEOUT = 15_000;

interface Page {
  config: Config;
  signIn: ReturnType<typeof createSignIn>;
  signedIn: SignInResult;
  /** The next view's, whose list is loading. */
  api?: Promise<Api> | undefined;
  locale?: Locale;
  view?: View | undefined;
  linked: string;
  shows: number;
}

async function start(): Promise<void> {
  const signal = AbortSignal.timeout(CONFIG_TIMEOUT);
  const config = await loadConfig(fetch('config.json', { signal }));
  const wanted = [localStorage.getItem(LANGUAGE_KEY) ?? '', ...navigator.languages];
  const loading = load(chooseLanguage(config.languages, wanted));
  if (config.accent !== undefined) {
    document.documentElement.style.setProperty('--brand', config.accent);
  }
  attempt(() => removeDeletedDrafts(sessionStorage, localStorage));
  const signIn = createSignIn(config, () => endSession(page));
  const signedIn = await signIn.resume();
  const page: Page = { config, signIn, signedIn, linked: location.hash.slice(1), shows: 0 };
  page.api = openApi(page);
  addEventListener('hashchange', () => void page.view?.show(location.hash.slice(1)));
  // The session may have ended while the page was in the back/forward cache.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && page.signedIn.session !== undefined) location.reload();
  });
  await show(page, await loading);
}

const load = async (language: Language): Promise<Locale> =>
  loadLocale(language, navigator.languages);

function openApi({ config, signedIn: { session } }: Page): Promise<Api> | undefined {
  return session && withFirstPage(createApi(config.apiUrl, session, () => navigator.onLine));
}

function endSession(page: Page): void {
  // The browser asks before text is lost.
  if (page.locale === undefined || page.view?.form.wouldLose() === true) return location.reload();
  page.signedIn = { reason: 'signedOut' };
  void show(page, page.locale);
}

async function show(page: Page, locale: Locale): Promise<void> {
  page.locale = locale;
  const run = ++page.shows;
  const api = await (page.api ?? openApi(page));
  page.api = undefined;
  // Another language was chosen, or the session has ended, in the meantime.
  if (run !== page.shows) return;
  page.view?.stop();
  page.view = undefined;
  const { config, signIn, linked } = page;
  const { session, reason } = page.signedIn;
  showSurroundings(page, locale);
  if (session === undefined || api === undefined) {
    const id = location.hash.slice(1).toLowerCase();
    const lead = INQUIRY_ID.test(id)
      ? locale.strings.session.toSee(isolate(toReference(id)))
      : config.introduction && inLanguage(config.introduction, locale.language);
    put('.account');
    const card = signedOutPage(locale, reason, signIn.redirect, lead);
    card.append(createPrivacyLink(config, locale) ?? '');
    return put('main', card);
  }
  const { user } = session;
  const view = createView({
    api,
    user,
    locale,
    branding: config,
    withList: true,
    signIn: signIn.redirect,
    linkTo: (id) => new URL(`#${id}`, location.href).href,
    linked,
  });
  page.view = view;
  page.linked = '';
  put(
    '.account',
    h('span', { class: 'email', dir: 'auto', title: user.email }, user.email),
    button(locale.strings.session.signOut, { class: 'quiet' }, async () => {
      if (!(await askToLeave(view, locale))) return;
      await signIn.signOut().catch(() => location.reload());
    }),
  );
  put('main', view.element);
  await view.start();
}

const put = (place: string, ...content: readonly (Node | string)[]): void =>
  document.querySelector(place)?.replaceChildren(...content);

function showSurroundings(page: Page, locale: Locale): void {
  const { language, direction, strings } = locale;
  const { name, logo, home, languages } = page.config;
  const { title, menu } = strings.page;
  document.title = name === '' ? title : `${title} – ${name}`;
  Object.assign(document.documentElement, { lang: language, dir: direction });
  const [initial = ''] = name;
  const image =
    logo === undefined
      ? h('span', { class: 'monogram', 'aria-hidden': 'true' }, initial.toUpperCase())
      : h('img', { src: logo, alt: '', height: '32' });
  const brand = [name === '' && logo === undefined ? '' : image, name || title];
  put('#brand', ...(home === undefined ? brand : [h('a', { href: home }, ...brand)]));
  const links = (['home', 'privacy', 'imprint'] as const).flatMap((key) => {
    const href = page.config[key];
    return href === undefined ? [] : h('a', { href }, strings.page[key]);
  });
  put('#links', ...links);
  put('#menu-button', menu);
  const hadFocus = document.querySelector('.language :focus') !== null;
  if (languages.length < 2) return;
  const select = languageMenu(page, locale);
  put('.language', select);
  if (hadFocus) select.focus();
}

function languageMenu(page: Page, { language: current, strings, nameOf }: Locale) {
  const options = page.config.languages.map((language) => {
    const attributes = { value: language, lang: language, selected: language === current };
    return h('option', attributes, nameOf(language));
  });
  const menu = h('select', { 'aria-label': strings.page.language }, ...options);
  menu.addEventListener('change', () => {
    const { value } = menu;
    if (!isLanguage(value)) return;
    attempt(() => localStorage.setItem(LANGUAGE_KEY, value));
    void load(value).then(async (locale) => show(page, locale));
  });
  return menu;
}

/** @param lead - Default: what a sign-in is for. */
function signedOutPage(
  { strings: { form, session, failures, page } }: Locale,
  reason: SignInResult['reason'],
  signIn: () => Promise<void>,
  lead = session.lead,
): HTMLElement {
  const region = live('alert');
  if (reason !== undefined) {
    const title = reason === 'ended' ? failures['signed-out'] : session[reason];
    const texts: Partial<Record<typeof reason, string>> = {
      ended: failures.textKept,
      signedOutHere: session.mayBeSignedIn,
    };
    region.append(notice(reason === 'failed' ? 'bad' : 'plain', { title, text: texts[reason] }));
  }
  const control = button(session.signIn, { class: 'primary' }, async () => {
    control.textContent = page.wait;
    await signIn().catch(() => {
      control.textContent = session.signIn;
      region.replaceChildren(notice('bad', { title: session.noAnswer, text: failures.again }));
    });
  });
  return div('card welcome', h('h1', {}, form.title), p('lead', lead), region, control);
}

/** Mistakes in config.json are shown to the site's owner, in English. */
async function showProblem(error: unknown): Promise<void> {
  const { strings } = await load(chooseLanguage(LANGUAGES, navigator.languages));
  const { cannotStart, unsupported, reload } = strings.page;
  const text = error instanceof ConfigError ? error.message : unsupported;
  const control = button(reload, { class: 'primary' }, () => location.reload());
  const attributes = { class: 'card welcome', role: 'alert' };
  put('main', h('div', attributes, h('h1', {}, cannotStart), p('lead', text), control));
}

await start().catch(showProblem);
