/**
 * The form as a custom element, `<inquiry-form>`, for the page of another site, which does the sign-in. It reads and
 * writes nothing outside of itself but its drafts in the browser's storage. web/README.md
 */
import { createApi, withFirstPage } from './api.ts';
import { BRANDING, ConfigError, readColor, readUrl, type Branding } from './config.ts';
import { button, div, h } from '../ui/dom.ts';
import { createDrafts, toStore } from './drafts.ts';
import elementStyle from './element.css?inline';
import firstPaint from '../ui/first-paint.css?inline';
import type { Message } from './languages/strings.ts';
import { isLanguage, LANGUAGES } from '../../src/languages.ts';
import { chooseLanguage, loadLocale, type Locale } from './locale.ts';
import style from './style.css?inline';
import { parseToken } from './token.ts';
import { SignedOut, type Session, type User } from './user.ts';
import { createView } from './view.ts';

type Token = string | null | undefined;

/**
 * Resolves to an ID token, or to null or undefined when nobody is signed in.
 *
 * @param refused - A token that the API rejected; another one is needed.
 */
export type GetToken = (refused?: string) => Promise<Token> | Token;

/** Properties that a page may have set before this script was loaded. */
const PROPERTIES = ['apiUrl', 'language', 'accent', 'list', 'getToken', 'branding'] as const;
/** In messages about settings. */
const PLACE = 'of <inquiry-form>';
/** In English, because the other texts are missing. */
const NOT_LOADED = 'The contact form could not be loaded. Please reload the page.';

export class InquiryForm extends HTMLElement {
  static readonly observedAttributes = ['api-url', 'language', 'accent', 'list'];

  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #sheet = new CSSStyleSheet();
  /** One for each element, whose drafts another element of the page does not change. */
  readonly #storage = toStore(() => sessionStorage);
  #style = '';
  #accentStyle = '';
  #getToken: GetToken | undefined;
  #branding: Branding = { topics: [] };
  /** Number of the latest update; an earlier one that is still waiting stops. */
  #version = 0;
  /** The settings and texts of the shown content; empty when it must be created again. */
  #madeFrom = '';
  #removal = new AbortController();
  /** The id of the last inquiry that was sent: a view that has been replaced may report it a second time. */
  #lastSent = '';

  /** URL of the API without `/inquiries`. */
  get apiUrl(): string {
    return this.getAttribute('api-url') ?? '';
  }
  set apiUrl(url: string | null | undefined) {
    this.#reflect('api-url', url);
  }

  /** One of the form's languages. Default: that of the page (`lang`), then the browser's. */
  get language(): string {
    return this.getAttribute('language') ?? '';
  }
  set language(language: string | null | undefined) {
    this.#reflect('language', language);
  }

  /** `#rrggbb` */
  get accent(): string {
    return this.getAttribute('accent') ?? '';
  }
  set accent(accent: string | null | undefined) {
    this.#reflect('accent', accent);
  }

  /** Whether the user's inquiries are listed next to the form. */
  get list(): boolean {
    return this.hasAttribute('list');
  }
  set list(list: boolean) {
    this.toggleAttribute('list', list);
  }

  get getToken(): GetToken | undefined {
    return this.#getToken;
  }
  set getToken(getToken: GetToken | null | undefined) {
    this.#getToken = getToken ?? undefined;
    this.refresh();
  }

  /** Introduction, expectation, topics and sender of answers, as in config.json. A wrong one is left out. */
  get branding(): Branding {
    return this.#branding;
  }
  set branding(values: Partial<Branding> | null | undefined) {
    const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
    const read = given.map(([key, value]) => [
      key,
      check(() => {
        if (!Object.hasOwn(BRANDING, key)) {
          throw new ConfigError(`“branding” ${PLACE} has no key “${key}”.`);
        }
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
        return BRANDING[key as keyof Branding](value, key, PLACE);
      }),
    ]);
    const valid = read.filter(([, value]) => value !== undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- BRANDING has the type of each key
    this.#branding = { topics: [], ...(Object.fromEntries(valid) as Partial<Branding>) };
    this.refresh();
  }

  connectedCallback(): void {
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      // The property of the element itself hides the accessor.
      Reflect.deleteProperty(this, name);
      Object.assign(this, { [name]: value });
    }
    if (this.#style === '') this.#sheet.replaceSync(elementStyle);
    this.#root.adoptedStyleSheets = [this.#sheet];
    this.refresh();
  }

  disconnectedCallback(): void {
    queueMicrotask(() => {
      // An element that was only moved keeps its content.
      if (!this.isConnected) this.#show('');
    });
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (now === before) return;
    if (name === 'accent') this.#readAccent(now);
    if (name === 'language' && now && !isLanguage(baseOf(now))) {
      report(
        new ConfigError(
          `“language” ${PLACE} must be one of ${LANGUAGES.join(', ')}, not “${now}”.`,
        ),
      );
    }
    this.refresh();
  }

  /**
   * Shows the form of the user who is signed in now. To be called after a sign-in or sign-out of the page. While user
   * and settings stay the same, so does what is shown.
   */
  refresh(): void {
    const version = ++this.#version;
    // Once for all properties that are set in the same task.
    queueMicrotask(() => {
      if (version === this.#version && this.isConnected) void this.#update(version);
    });
  }

  async #update(version: number): Promise<void> {
    this.#applyStyle();
    const preferred = [
      this.language,
      this.closest('[lang]')?.getAttribute('lang') ?? document.documentElement.lang,
      ...navigator.languages,
    ].filter((tag) => baseOf(tag) !== '');
    const [locale, found] = await Promise.allSettled([
      loadLocale(chooseLanguage(LANGUAGES, null, preferred), preferred),
      this.#find(),
    ]);
    if (version !== this.#version || !this.isConnected) return;
    if (found.status === 'rejected') report(found.reason);
    if (locale.status === 'rejected') {
      report(locale.reason);
      // What is shown stays usable, in its language.
      if (this.#madeFrom === '') this.#show('', h('p', { class: 'view' }, NOT_LOADED));
      return;
    }
    const { strings } = locale.value;
    if (found.status === 'fulfilled') {
      const { apiUrl, user } = found.value;
      if (user !== undefined) return this.#showView(version, locale.value, apiUrl, user);
      const signIn = button(strings.session.signIn, { class: 'primary' }, () =>
        this.#askToSignIn(),
      );
      this.#showMessage(locale.value, strings.session.required, signIn);
    } else if (found.reason instanceof ConfigError) {
      // In English: it is for the page's developers.
      this.#showMessage(locale.value, {
        title: strings.page.cannotStart,
        text: found.reason.message,
      });
    } else {
      const again = button(strings.form.tryAgain, {}, () => this.refresh());
      this.#showMessage(locale.value, strings.session.noAnswer, again);
    }
  }

  async #showView(version: number, locale: Locale, apiUrl: string, user: User): Promise<void> {
    const { language } = locale;
    const madeFrom = JSON.stringify([user, language, apiUrl, this.list, this.#branding]);
    if (madeFrom === this.#madeFrom) return;
    const client = createApi(apiUrl, this.#session(user), () => navigator.onLine);
    const api = this.list ? await withFirstPage(client) : client;
    if (version !== this.#version || !this.isConnected) return;
    const removal = new AbortController();
    const view = createView({
      api,
      user,
      locale,
      branding: this.#branding,
      withList: this.list,
      drafts: createDrafts(
        this.#storage,
        toStore(() => localStorage),
        user.sub,
      ),
      signIn: async () => this.#askToSignIn(),
      onSent: (inquiry) => {
        if (inquiry.id === this.#lastSent) return;
        this.#lastSent = inquiry.id;
        this.#emit('sent', inquiry);
      },
      onFailed: ({ kind, mayBeDone }) => {
        if (!removal.signal.aborted) this.#emit('failed', { kind, mayBeDone });
      },
    });
    removal.signal.addEventListener('abort', view.stop);
    this.#show(madeFrom, view.element, removal);
    await view.start();
  }

  /** @throws ConfigError when the page has set something wrong; any other error of `getToken`. */
  async #find(): Promise<{ readonly apiUrl: string; readonly user: User | undefined }> {
    const { apiUrl, baseURI } = this;
    const isAddress = apiUrl !== '' && URL.canParse(apiUrl, baseURI);
    const absolute = isAddress ? new URL(apiUrl, baseURI).href : apiUrl;
    const read = readUrl(absolute, 'api-url', PLACE);
    return { apiUrl: read, user: (await this.#ask())?.user };
  }

  /** Undefined when nobody is signed in. */
  async #ask(
    refused?: string,
  ): Promise<{ readonly token: string; readonly user: User } | undefined> {
    const token = await this.#getToken?.(refused);
    // Some pages return null or '' when nobody is signed in.
    return token ? { token, user: parseToken(token) } : undefined;
  }

  #session(user: User): Session {
    return {
      user,
      token: async (refused) => {
        const found = await this.#ask(refused).catch((error: unknown) => {
          report(error);
          throw error;
        });
        if (found !== undefined && found.token !== refused && found.user.sub === user.sub) {
          return found.token;
        }
        // Created again after the sign-in, the form finishes sending.
        this.#madeFrom = '';
        throw new SignedOut();
      },
    };
  }

  #askToSignIn(): void {
    this.#madeFrom = '';
    this.#emit('signin-required', null);
  }

  #showMessage({ language, direction }: Locale, message: Message, action?: HTMLElement): void {
    const madeFrom = JSON.stringify([language, message]);
    if (madeFrom === this.#madeFrom) return;
    const card = div(
      'card message',
      h('h1', {}, message.title),
      h('p', { class: 'lead' }, message.text),
      action,
    );
    this.#show(madeFrom, h('div', { class: 'view', lang: language, dir: direction }, card));
  }

  /** Replaces the content; a field that has the focus keeps it. */
  #show(madeFrom: string, content?: HTMLElement, removal = new AbortController()): void {
    this.#removal.abort();
    this.#removal = removal;
    this.#madeFrom = madeFrom;
    const field = this.#root.activeElement;
    const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    this.#root.replaceChildren(...(content === undefined ? [] : [content]));
    const same = isField ? this.#root.querySelector<typeof field>(`#${field.id}`) : null;
    same?.focus({ preventScroll: true });
    if (isField) same?.setSelectionRange(field.selectionStart, field.selectionEnd);
  }

  /**
   * Replaces rem, which is the font size of the page's root, by the font size of this element. The policy of the page
   * does not bind constructed style sheets.
   */
  #applyStyle(): void {
    const rem = Number.parseFloat(getComputedStyle(this).fontSize);
    const css = (firstPaint + elementStyle + style + this.#accentStyle).replaceAll(
      /(\d*\.?\d+)rem\b/g,
      (_match, count: string) => `${Number(count) * rem}px`,
    );
    if (css === this.#style) return;
    this.#style = css;
    this.#sheet.replaceSync(css);
  }

  #readAccent(value: string | null): void {
    const accent = value === null ? undefined : check(() => readColor(value, 'accent', PLACE));
    this.#accentStyle = accent === undefined ? '' : `:host{--brand:${accent}}`;
  }

  #reflect(name: string, value: string | null | undefined): void {
    if (value === null || value === undefined) this.removeAttribute(name);
    else this.setAttribute(name, value);
  }

  /** Dispatches an event, which does not bubble. */
  #emit(name: 'sent' | 'failed' | 'signin-required', detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Reads a setting. @returns undefined when it is wrong, which is reported: a page must not fail because of it. */
function check<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** Reports an error to the page's developers. */
function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- the page has no other place for it
  console.error('<inquiry-form>:', error instanceof ConfigError ? error.message : error);
}

/** The language of a tag such as de-AT; empty when it is no tag, which Intl refuses. */
function baseOf(tag: string): string {
  try {
    return new Intl.Locale(tag).language;
  } catch {
    return '';
  }
}

if (customElements.get('inquiry-form') === undefined) {
  customElements.define('inquiry-form', InquiryForm);
}
