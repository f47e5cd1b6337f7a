/** For all languages, or by language. */
export type Text = string | Partial<Record<'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar', string>>;

export interface Branding {
  introduction?: Text | undefined;
  expectation?: Text | undefined;
  topics?: readonly Text[] | undefined;
  answersFrom?: string | undefined;
  privacy?: string | undefined;
}

type Token = string | null | undefined;

/** Resolves to an ID token if somebody is signed in. @param refused - A token that the API rejected. */
export type GetToken = (refused?: string) => Promise<Token> | Token;

export interface Inquiry {
  id: string;
  cognito_sub: string;
  email: string;
  subject: string;
  body: string;
  created_at: string;
}

export interface InquiryFormEvents {
  sent: CustomEvent<Inquiry>;
  /** `mayBeDone`: the inquiry may have arrived all the same. */
  failed: CustomEvent<{ kind: string; mayBeDone: boolean }>;
  'signin-required': CustomEvent<null>;
}

export class InquiryForm extends HTMLElement {
  apiUrl: string;
  language: string;
  accent: string;
  list: boolean;
  get getToken(): GetToken | undefined;
  set getToken(getToken: GetToken | null | undefined);
  get branding(): Branding;
  set branding(branding: Branding | null | undefined);
  /** To be called after the page's sign-in or sign-out. */
  refresh(): void;
  addEventListener<Name extends keyof InquiryFormEvents>(
    name: Name,
    listener: (event: InquiryFormEvents[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(...parameters: Parameters<HTMLElement['addEventListener']>): void;
}

/** Functions and objects are properties. */
export interface InquiryFormAttributes {
  'api-url'?: string | undefined;
  language?: string | undefined;
  accent?: string | undefined;
  list?: boolean | undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    'inquiry-form': InquiryForm;
  }
}
