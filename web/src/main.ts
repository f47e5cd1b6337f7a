/** The page: its settings, its language, the sign-in, and what is around the form. */
import { createApi, withFirstPage } from './api.ts';
import { inLanguage, isLanguage, LANGUAGES, type Language } from '../../src/languages.ts';
import { ConfigError, loadConfig, type Config } from './config.ts';
import { removeDeletedDrafts } from './drafts.ts';
import { button, h, problemPage } from '../ui/dom.ts';
import { chooseLanguage, loadLocale, type Locale } from './locale.ts';
import { signedOutPage } from './signed-out-page.ts';
import { createSignIn } from './session.ts';
import { attempt } from './storage.ts';
import { askToLeave, createView, type View } from './view.ts';

const LANGUAGE_KEY = 'inquiries.language';
/** Milliseconds. */
const CONFIG_TIMEOUT = 15_000;

/** Shows the settings, the language and the content of the page. */
type Show = (locale: Locale) => Promise<void> | void;

const load = async (language: Language): Promise<Locale> =>
  loadLocale(language, navigator.languages);

const choose = (offered: readonly Language[]): Language =>
  chooseLanguage(offered, localStorage.getItem(LANGUAGE_KEY), navigator.languages);

async function start(): Promise<void> {
  const config = await loadConfig(async (file) =>
    fetch(file, { signal: AbortSignal.timeout(CONFIG_TIMEOUT) }),
  );
  const loading = load(choose(config.languages));
  if (config.accent !== undefined) {
    document.documentElement.style.setProperty('--brand', config.accent);
  }
  let locale: Locale | undefined;
  let view: View | undefined;
  attempt(() => removeDeletedDrafts(sessionStorage, localStorage));
  const endSession = (): void => {
    // The browser asks before it reloads a page with text that is kept nowhere.
    if (locale === undefined || view?.wouldLose() === true) return location.reload();
    [session, reason] = [undefined, 'signedOut'];
    void show(locale);
  };
  const signIn = createSignIn(config, endSession, () => view?.empty());
  let { session, reason } = await signIn.resume();
  const client =
    session === undefined ? undefined : createApi(config.apiUrl, session, () => navigator.onLine);
  // While the language is loading.
  let early = client === undefined ? undefined : withFirstPage(client);

  let shows = 0;
  // Not again when the language changes.
  let linked = location.hash.slice(1);
  const show: Show = async (current) => {
    locale = current;
    const run = ++shows;
    const api =
      client === undefined || session === undefined
        ? undefined
        : await (early ?? withFirstPage(client));
    early = undefined;
    // Another language was chosen, or the session has ended.
    if (run !== shows) return;
    view?.stop();
    view = undefined;
    showSurroundings(config, current, show);
    if (session === undefined || api === undefined) {
      const { introduction } = config;
      const lead =
        introduction === undefined ? undefined : inLanguage(introduction, current.language);
      showContent(signedOutPage(current, reason, signIn.redirect, lead));
      return;
    }
    view = createView({
      api,
      user: session.user,
      locale: current,
      branding: config,
      withList: true,
      signIn: signIn.redirect,
      linkTo: (id) => new URL(`#${id}`, location.href).href,
      linked,
    });
    const shown = view;
    linked = '';
    const { email } = session.user;
    showContent(
      view.element,
      h('span', { class: 'email', dir: 'auto', title: email }, email),
      button(current.strings.session.signOut, { class: 'quiet' }, async () => {
        const answer = await askToLeave(shown, current);
        if (answer !== 'stay') {
          await signIn.signOut(answer === 'delete').catch(() => location.reload());
        }
      }),
    );
    await shown.start();
  };
  addEventListener('hashchange', () => void view?.show(location.hash.slice(1)));
  // A page restored from the back/forward cache may be of a session that has ended.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session !== undefined) location.reload();
  });
  await show(await loading);
}

/** @param account - What the header shows of the user. */
function showContent(content: HTMLElement, ...account: HTMLElement[]): void {
  document.querySelector('#account')?.replaceChildren(...account);
  document
    .querySelector('#menu-button')
    ?.toggleAttribute('hidden', document.querySelector('#menu :is(select, button)') === null);
  document.querySelector('main')?.replaceChildren(content);
}

/** Shows the name and the logo of the company, its links, and the language menu. */
function showSurroundings(
  config: Config,
  { language, direction, strings: { page } }: Locale,
  show: Show,
): void {
  const { name, logo, home } = config;
  document.title = page.title(name);
  document.documentElement.lang = language;
  document.documentElement.dir = direction;
  const [initial] = name;
  const image =
    logo === undefined
      ? initial === undefined
        ? ''
        : h('span', { class: 'monogram', 'aria-hidden': 'true' }, initial.toUpperCase())
      : h('img', { src: logo, alt: '', height: '32' });
  const brand = [image, name === '' ? page.title('') : name];
  document
    .querySelector('#brand')
    ?.replaceChildren(...(home === undefined ? brand : [h('a', { href: home }, ...brand)]));
  const link = (key: 'home' | 'privacy' | 'imprint') =>
    config[key] === undefined ? undefined : h('a', { href: config[key] }, page[key]);
  const menu =
    config.languages.length > 1
      ? languageMenu(config.languages, language, page.language)
      : undefined;
  menu?.addEventListener('change', () => {
    if (!isLanguage(menu.value)) return;
    const { value } = menu;
    attempt(() => localStorage.setItem(LANGUAGE_KEY, value));
    void load(value).then(show);
  });
  const links = [link('home'), link('privacy'), link('imprint')];
  document.querySelector('#links')?.replaceChildren(...links.filter((part) => part !== undefined));
  const menuButton = document.querySelector<HTMLElement>('#menu-button');
  if (menuButton !== null) menuButton.textContent = page.menu;
  const place = document.querySelector('#language');
  const hadFocus = place?.contains(document.activeElement) === true;
  place?.replaceChildren(...(menu === undefined ? [] : [menu]));
  if (hadFocus) menu?.focus();
}

/** The menu of languages, each with its name in itself. */
function languageMenu(
  offered: readonly Language[],
  current: Language,
  label: string,
): HTMLSelectElement {
  const options = offered.map((language) => {
    const name = new Intl.DisplayNames([language], { type: 'language' }).of(language);
    return h('option', { value: language, lang: language, selected: language === current }, name);
  });
  return h('select', { 'aria-label': label }, ...options);
}

/** Says why the page cannot start. The message about config.json is for the owner of the site, and in English. */
async function showProblem(error: unknown): Promise<void> {
  const { strings } = await load(chooseLanguage(LANGUAGES, null, navigator.languages));
  const { cannotStart, unsupported, reload } = strings.page;
  const text = error instanceof ConfigError ? error.message : unsupported;
  showContent(problemPage({ title: cannotStart, text }, reload));
}

await start().catch(showProblem);
