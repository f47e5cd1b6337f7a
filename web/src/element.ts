/**
 * The form as a custom element, `<inquiry-form>`, for the page of another site, which does the sign-in. It reads and
 * writes nothing outside of itself but its drafts in the browser's storage. web/README.md
 */
import { createApi } from './api.ts';
import type { Failure } from './api.ts';
import type { Branding } from './config.ts';
import type { Inquiry } from '../../src/contract.ts';
import { button, h, notice } from './dom.ts';
import firstPaint from './first-paint.css?inline';
import { chooseLanguage, languages, loadLocale } from './locale.ts';
import type { Locale } from './locale.ts';
import { toAccents } from './palette.ts';
import style from './style.css?inline';
import { parseToken } from './token.ts';
import { SignedOut } from './user.ts';
import type { Session, User } from './user.ts';
import { createView } from './view.ts';

/**
 * Resolves to an ID token, or to undefined when nobody is signed in.
 *
 * @param refused - A token that the API rejected; another one is needed.
 */
export type GetToken = (refused?: string) => Promise<string | undefined> | string | undefined;

/** The events of the element by name, with their details. None bubbles. */
export interface InquiryFormEvents {
  sent: CustomEvent<Inquiry>;
  failed: CustomEvent<Pick<Failure, 'kind' | 'mayBeDone'>>;
  'signin-required': CustomEvent<null>;
}

const COLOR = /^#[\da-f]{6}$/i;

export class InquiryForm extends HTMLElement {
  static readonly observedAttributes = ['api-url', 'language', 'accent', 'list'];

  readonly #root = this.attachShadow({ mode: 'open' });
  #getToken: GetToken | undefined;
  #branding: Branding = { topics: [] };
  /** Counts updates; an older one that is still waiting for something gives up. */
  #version = 0;

  /** URL of the API without `/inquiries`. */
  get apiUrl(): string {
    return this.getAttribute('api-url')?.replace(/\/$/, '') ?? '';
  }
  set apiUrl(url: string) {
    this.setAttribute('api-url', url);
  }

  /** One of the form's languages. Default: that of the element (`lang`), then the browser's. */
  get language(): string {
    return this.getAttribute('language') ?? '';
  }
  set language(language: string) {
    this.setAttribute('language', language);
  }

  /** `#rrggbb` */
  get accent(): string {
    return this.getAttribute('accent') ?? '';
  }
  set accent(accent: string) {
    this.setAttribute('accent', accent);
  }

  /** Whether the user's inquiries are listed below the form. */
  get list(): boolean {
    return this.hasAttribute('list');
  }
  set list(list: boolean) {
    this.toggleAttribute('list', list);
  }

  get getToken(): GetToken | undefined {
    return this.#getToken;
  }
  set getToken(getToken: GetToken | undefined) {
    this.#getToken = getToken;
    this.refresh();
  }

  /** Introduction, expectation, topics and sender of answers, as in config.json. */
  get branding(): Branding {
    return this.#branding;
  }
  set branding(branding: Partial<Branding>) {
    this.#branding = { topics: [], ...branding };
    this.refresh();
  }

  connectedCallback(): void {
    const sheets = [firstPaint, style].map((text) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return sheet;
    });
    this.#root.adoptedStyleSheets = sheets;
    this.refresh();
  }

  disconnectedCallback(): void {
    this.#version++;
    this.#root.replaceChildren();
  }

  attributeChangedCallback(): void {
    this.refresh();
  }

  /** Shows the form of the user who is signed in now. To be called after a sign-in or sign-out of the page. */
  refresh(): void {
    const version = ++this.#version;
    // Once for all properties that are set in the same task.
    queueMicrotask(() => {
      if (version === this.#version && this.isConnected) void this.#update(version);
    });
  }

  async #update(version: number): Promise<void> {
    if (COLOR.test(this.accent)) {
      const { light, dark } = toAccents(this.accent);
      this.style.setProperty('--accent-light', light);
      this.style.setProperty('--accent-dark', dark);
    }
    const preferred = [
      this.language,
      this.closest('[lang]')?.getAttribute('lang') ?? '',
      ...navigator.languages,
    ];
    const locale = await loadLocale(chooseLanguage(languages, null, preferred), preferred);
    const user = await this.#findUser();
    if (version !== this.#version) return;
    if (user === undefined) {
      this.#root.replaceChildren(this.#signInNotice(locale));
      this.#emit('signin-required', null);
      return;
    }
    const view = createView({
      api: createApi(this.apiUrl, this.#session(user), () => navigator.onLine),
      user,
      locale,
      branding: this.#branding,
      withList: this.list,
      signIn: async () => this.#emit('signin-required', null),
      onSent: (inquiry) => this.#emit('sent', inquiry),
      onFailed: ({ kind, mayBeDone }) => this.#emit('failed', { kind, mayBeDone }),
    });
    this.#root.replaceChildren(view.element);
    await view.start();
  }

  /** Undefined when nobody is signed in, or the token cannot be read. */
  async #findUser(): Promise<User | undefined> {
    try {
      const token = await this.#getToken?.();
      return token === undefined ? undefined : parseToken(token);
    } catch {
      return undefined;
    }
  }

  #session(user: User): Session {
    return {
      user,
      token: async (refused) => {
        const token = await this.#getToken?.(refused);
        if (token === undefined || token === refused) throw new SignedOut();
        // The page has signed in someone else.
        if (parseToken(token).sub !== user.sub) throw new SignedOut();
        return token;
      },
    };
  }

  #signInNotice({ strings: { session }, language, direction }: Locale): HTMLElement {
    const signIn = button(session.signIn, { class: 'primary' }, () => this.#emit('signin-required', null));
    return h(
      'div',
      { class: 'view card', lang: language, dir: direction },
      notice('plain', session.required, signIn),
    );
  }

  #emit<Name extends keyof InquiryFormEvents>(name: Name, detail: InquiryFormEvents[Name]['detail']): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

if (customElements.get('inquiry-form') === undefined) customElements.define('inquiry-form', InquiryForm);
