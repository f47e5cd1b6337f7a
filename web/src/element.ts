/** The custom element, in pages that do the sign-in. web/package/README.md */
import { createApi, withFirstPage, SignedOut, type Session, type User } from './api.ts';
import { BRANDING, ConfigError, readApiUrl, readColor, refuseAs, type Branding } from './config.ts';
import { button, div, h, p } from './dom.ts';
import { createDrafts, toStore } from './form/drafts.ts';
import elementStyle from './element.css?inline';
import firstPaint from '../../ui/first-paint.css?inline';
import type { Message } from './languages/en.ts';
import { isLanguage, LANGUAGES } from '../../text/languages.ts';
import { baseOf, chooseLanguage, loadLocale, type Locale } from './languages/locale.ts';
import style from './style.css?inline';
import { createPrivacyLink } from './privacy-link.ts';
import { parseToken } from './session/token.ts';
import { createView, type View } from './view.ts';
import type { GetToken, InquiryForm as Published } from '../package/inquiry-form.d.ts';

const ATTRIBUTES = { apiUrl: 'api-url', language: 'language', accent: 'accent' } as const;
/** Frameworks write a property as an attribute of its name when this script loads after them. */
const MISPLACED: Partial<Record<string, string>> = {
  apiurl: 'apiUrl',
  branding: 'branding',
  gettoken: 'getToken',
};
/** A page may set them before this script loads. */
const PROPERTIES = [...Object.keys(ATTRIBUTES), 'list', 'getToken', 'branding'];
/** Milliseconds after the page has loaded. */
const TOKEN_WAIT = 1_000;
const NOT_LOADED = 'The contact form could not be loaded. Please reload the page.';

const refuse = (key: string) => refuseAs(key, 'of <inquiry-form>');
const howToSet = (property: string): string =>
  `Set the property “${property}”: in React by a ref, in Vue by “:${property}.prop”.`;

/** On a server, which renders only the tag, there are no elements. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- never constructed there
const Base = globalThis.HTMLElement ?? (Object as unknown as typeof HTMLElement);

export class InquiryForm extends Base implements Published {
  static readonly observedAttributes = [
    ...Object.values(ATTRIBUTES),
    'list',
    ...Object.keys(MISPLACED),
  ];

  declare apiUrl: string;
  /** Default: the page's (`lang`), then the browser's. */
  declare language: string;
  declare accent: string;

  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #sheet = new CSSStyleSheet();
  /** Each element on a page has its own drafts. */
  readonly #storage = toStore(() => sessionStorage);
  #accentStyle = '';
  #getToken: GetToken | undefined;
  #branding: Branding = { topics: [] };
  /** An update stops when a newer one has begun. */
  #version = 0;
  /** If it is empty, the next update makes the content again. */
  #madeFrom = '';
  #view: View | undefined;
  /** A view that replaces another may report an inquiry again. */
  #lastSent = '';
  #isFocusWanted = false;

  static {
    for (const [property, attribute] of Object.entries(ATTRIBUTES)) {
      Object.defineProperty(this.prototype, property, {
        get(this: InquiryForm) {
          return this.getAttribute(attribute) ?? '';
        },
        set(this: InquiryForm, value: string | null | undefined) {
          this.setAttribute(attribute, value ?? '');
        },
      });
    }
  }

  constructor() {
    super();
    // Keeps the page's shortcuts out of fields, but not Tab and Escape.
    for (const type of ['keydown', 'keypress', 'keyup'] as const) {
      this.#root.addEventListener(type, (event) => {
        const isField =
          event.target instanceof Element && event.target.matches('input, textarea, select');
        const { key = '' } = event instanceof KeyboardEvent ? event : {};
        if (isField && key !== 'Tab' && key !== 'Escape') event.stopPropagation();
      });
    }
  }

  get list(): boolean {
    // Some frameworks write “false”.
    return (this.getAttribute('list') ?? 'false') !== 'false';
  }
  set list(list: boolean) {
    if (list) this.setAttribute('list', '');
    else this.removeAttribute('list');
  }

  get getToken(): GetToken | undefined {
    return this.#getToken;
  }
  set getToken(getToken: GetToken | null | undefined) {
    this.#getToken = getToken ?? undefined;
    this.refresh();
  }

  /** A wrong value is left out. */
  get branding(): Branding {
    return this.#branding;
  }
  set branding(values: Partial<Branding> | null | undefined) {
    const read = Object.entries(values ?? {}).map(([key, value]) => [
      key,
      check(() => {
        if (value === undefined) return undefined;
        if (Object.hasOwn(BRANDING, key)) {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked
          return BRANDING[key as keyof Branding](value, refuse(key));
        }
        throw new ConfigError(`“branding” of <inquiry-form> has no key “${key}”.`);
      }),
    ]);
    const valid = read.filter(([, value]) => value !== undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- BRANDING has the type of each key
    this.#branding = { topics: [], ...(Object.fromEntries(valid) as Partial<Branding>) };
    this.refresh();
  }

  /** Focuses the first field or else the first button, once it exists. */
  override focus(options?: FocusOptions): void {
    const target = this.#root.querySelector<HTMLElement>('input, textarea, button');
    this.#isFocusWanted = target === null;
    target?.focus(options);
  }

  connectedCallback(): void {
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value: unknown = Reflect.get(this, name);
      // A property of the element's own hides the accessor of the class.
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, value);
    }
    // The other styles are made from its font size.
    this.#sheet.replaceSync(elementStyle);
    this.#root.adoptedStyleSheets = [this.#sheet];
    this.refresh();
  }

  disconnectedCallback(): void {
    queueMicrotask(() => {
      // A moved element is disconnected and connected again.
      if (!this.isConnected) this.#show('');
    });
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (now === before) return;
    if (name === 'accent') {
      const accent = check(() => now && readColor(now, refuse(name)));
      this.#accentStyle = accent ? `:host{--brand:${accent}}` : '';
    }
    if (name === 'language' && now && !isLanguage(baseOf(now))) {
      check(() => refuse(name)(`one of ${LANGUAGES.join(', ')}, not “${now}”`));
    }
    const property = MISPLACED[name];
    if (property !== undefined && now !== null) {
      report(new ConfigError(`“${name}” of <inquiry-form> is no attribute. ${howToSet(property)}`));
    }
    this.refresh();
  }

  /** To be called after the page's sign-in or sign-out. */
  refresh(): void {
    const version = ++this.#version;
    // A page sets several properties in one task; one update is enough.
    queueMicrotask(() => {
      if (this.#isCurrent(version)) void this.#update(version);
    });
  }

  #isCurrent(version: number): boolean {
    return version === this.#version && this.isConnected;
  }

  async #update(version: number): Promise<void> {
    this.#applyStyle();
    const page = this.closest('[lang]')?.getAttribute('lang') ?? document.documentElement.lang;
    const preferred = [this.language, page, ...navigator.languages];
    const [locale, found] = await Promise.allSettled([
      loadLocale(chooseLanguage(LANGUAGES, preferred), preferred),
      this.#find(),
    ]);
    if (!this.#isCurrent(version)) return;
    if (found.status === 'rejected') report(found.reason);
    if (locale.status === 'rejected') {
      report(locale.reason);
      const text = h('p', { class: 'view', lang: 'en', dir: 'ltr' }, NOT_LOADED);
      if (this.#madeFrom === '') this.#show('', text);
    } else if (found.status === 'rejected') {
      this.#showProblem(locale.value, found.reason);
    } else {
      const { apiUrl, user } = found.value;
      if (user !== undefined) return this.#showView(version, locale.value, apiUrl, user);
      const { session } = locale.value.strings;
      const signIn = button(session.signIn, { class: 'primary' }, () => this.#askToSignIn());
      const message = { title: session.required, text: session.lead };
      const privacy = createPrivacyLink(this.#branding, locale.value);
      this.#showMessage(locale.value, message, signIn, privacy);
    }
  }

  #showProblem(locale: Locale, problem: unknown): void {
    const { page, session, failures, form } = locale.strings;
    if (problem instanceof ConfigError) {
      return this.#showMessage(locale, { title: page.cannotStart, text: problem.message });
    }
    const again = button(form.tryAgain, {}, () => this.refresh());
    this.#showMessage(locale, { title: session.noAnswer, text: failures.again }, again);
  }

  async #showView(version: number, locale: Locale, apiUrl: string, user: User): Promise<void> {
    const branding = this.#branding;
    const madeFrom = JSON.stringify([user, locale.language, apiUrl, this.list, branding]);
    if (madeFrom === this.#madeFrom) return;
    const client = createApi(apiUrl, this.#session(user), () => navigator.onLine);
    const api = this.list ? await withFirstPage(client) : client;
    if (!this.#isCurrent(version)) return;
    const view = createView({
      api,
      user,
      locale,
      branding,
      withList: this.list,
      drafts: createDrafts(
        this.#storage,
        toStore(() => localStorage),
        user.sub,
      ),
      signIn: async () => this.#askToSignIn(),
      onSent: (inquiry) => {
        if (inquiry.id !== this.#lastSent) this.#emit('sent', inquiry);
        this.#lastSent = inquiry.id;
      },
      onFailed: ({ kind, mayBeDone }) => {
        if (view === this.#view) this.#emit('failed', { kind, mayBeDone });
      },
    });
    this.#show(madeFrom, view.element, view);
    await view.start();
  }

  /** @throws ConfigError, or any error of `getToken`. */
  async #find() {
    if (this.#getToken === undefined) this.#nameMissingToken();
    const apiUrl = readApiUrl(this.apiUrl, refuse('api-url'));
    return { apiUrl, user: (await this.#ask())?.user };
  }

  /** A script may set it late, such as a framework that takes over a server's page. */
  #nameMissingToken(): void {
    const name = (): void => {
      if (this.#getToken !== undefined || !this.isConnected) return;
      report(new ConfigError(`“getToken” of <inquiry-form> is missing. ${howToSet('getToken')}`));
    };
    const wait = (): unknown => setTimeout(name, TOKEN_WAIT);
    if (document.readyState === 'complete') wait();
    else addEventListener('load', wait, { once: true });
  }

  /** Undefined when signed out. */
  async #ask(refused?: string) {
    const token = await this.#getToken?.(refused);
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
        // After the next sign-in, a new view finishes sending.
        this.#madeFrom = '';
        throw new SignedOut();
      },
    };
  }

  #askToSignIn(): void {
    this.#madeFrom = '';
    this.#emit('signin-required', null);
  }

  #showMessage(
    { language, direction }: Locale,
    message: Message,
    ...more: (HTMLElement | undefined)[]
  ): void {
    const madeFrom = JSON.stringify([language, message, this.#branding.privacy]);
    if (madeFrom === this.#madeFrom) return;
    const lead = p('lead', message.text);
    const card = div('card message', h('h1', {}, message.title), lead, ...more);
    this.#show(madeFrom, h('div', { class: 'view', lang: language, dir: direction }, card));
  }

  /** If a field has the focus, the same field has it afterwards. */
  #show(madeFrom: string, content?: HTMLElement, view?: View): void {
    this.#view?.stop();
    this.#view = view;
    this.#madeFrom = madeFrom;
    const field = this.#root.activeElement;
    const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    this.#root.replaceChildren(...(content === undefined ? [] : [content]));
    if (this.#isFocusWanted && content !== undefined) this.focus();
    const same = isField ? this.#root.querySelector<typeof field>(`#${field.id}`) : null;
    same?.focus({ preventScroll: true });
    if (isField) same?.setSelectionRange(field.selectionStart, field.selectionEnd);
  }

  /** One rem becomes this element's font size. No policy forbids constructed style sheets. */
  #applyStyle(): void {
    const rem = Number.parseFloat(getComputedStyle(this).fontSize);
    const css = (firstPaint + elementStyle + style + this.#accentStyle).replaceAll(
      /(\d*\.?\d+)rem\b/g,
      (_match, count: string) => `${Number(count) * rem}px`,
    );
    this.#sheet.replaceSync(css);
  }

  #emit(name: 'sent' | 'failed' | 'signin-required', detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

function check<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    report(error);
    return undefined;
  }
}

function report(error: unknown): void {
  // oxlint-disable-next-line no-console -- the page has no other place for it
  console.error('<inquiry-form>:', error instanceof ConfigError ? error.message : error);
}

if (globalThis.customElements?.get('inquiry-form') === undefined) {
  globalThis.customElements?.define('inquiry-form', InquiryForm);
}
