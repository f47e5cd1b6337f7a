/**
 * The texts that people read, one file per language. Functions put in names, addresses and other texts of users as they
 * are; the caller isolates them (../bidi.ts), so that their direction does not change that of the sentence.
 */

/**
 * The forms of a text with a number, by the plural rules of the language (CLDR). `{n}` stands for the number as the
 * language writes it.
 */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

export interface Message {
  readonly title: string;
  readonly text: string;
}

export interface Strings {
  readonly page: {
    /** Title of the document. @param name - Of the company; empty: none is set. */
    readonly title: (name: string) => string;
    /** Label of the language menu. */
    readonly language: string;
    readonly home: string;
    readonly privacy: string;
    readonly imprint: string;
    readonly reload: string;
    readonly cannotStart: string;
    /** The browser stores nothing or lacks an API. */
    readonly unsupported: string;
  };

  readonly session: {
    readonly lead: string;
    readonly hint: string;
    readonly signIn: string;
    readonly signingIn: string;
    readonly signInAgain: string;
    readonly signOut: string;
    readonly signedOut: Message;
    /** The issuer did not answer at sign-out. */
    readonly signedOutHere: Message;
    readonly ended: Message;
    readonly cancelled: Message;
    readonly failed: Message;
    readonly noAnswer: Message;
    /** In the custom element, whose page does the sign-in. */
    readonly required: Message;
  };

  readonly form: {
    readonly title: string;
    /** Default of the introduction, without and with the user's list. */
    readonly lead: string;
    readonly leadWithList: string;
    readonly topics: string;
    readonly subject: string;
    readonly subjectHint: string;
    readonly message: string;
    readonly messageHint: string;
    readonly send: string;
    readonly sending: string;
    readonly tryAgain: string;
    readonly kept: string;
    readonly notKept: string;
    /** For screen readers, when sending begins. */
    readonly sendingNow: string;
    readonly slow: string;
    readonly ready: Message;
    readonly offline: Message;
    /** @param used, limit - Sizes with their units. */
    readonly size: (used: string, limit: string) => string;
    readonly tooLarge: (over: string) => string;
    readonly backToForm: string;
    /** Title, after having been offline. */
    readonly connected: string;
  };

  readonly sent: {
    readonly title: string;
    readonly reference: string;
    readonly sentAs: (email: string) => string;
    /** Default of what to expect. */
    readonly next: (email: string) => string;
    readonly answersFrom: (sender: string, email: string) => string;
    readonly view: string;
    readonly another: string;
    /** Another tab has sent the text that this tab shows. */
    readonly elsewhere: Message;
  };

  readonly ask: {
    readonly empty: Message;
    readonly goBack: string;
    readonly sendEmpty: string;
    readonly unsent: Message;
    readonly keepAndSignOut: string;
    readonly deleteAndSignOut: string;
    readonly staySignedIn: string;
    readonly sendVersion: string;
    readonly goOnEditing: string;
  };

  readonly failures: {
    readonly signedOut: string;
    readonly tooLarge: string;
    readonly busy: string;
    readonly limit: string;
    readonly conflict: string;
    readonly reused: string;
    readonly refused: string;
    readonly offline: string;
    readonly unreachable: string;
    readonly server: string;
    /** What became of the text: */
    readonly unknownOutcome: string;
    readonly unknownOutcomeSignedOut: string;
    readonly notSentSignedOut: string;
    readonly notSentTooLarge: (limit: string) => string;
    /** @param wait - `minutes`, or empty. */
    readonly notSentLimit: (wait: string, time: string) => string;
    readonly minutes: Plural;
    readonly notSentBusy: string;
    /** @param reason - Of the service, in English; may be empty. */
    readonly notSentRefused: (reason: string) => string;
    readonly notSentOffline: string;
    readonly notSent: string;
    readonly otherVersion: string;
    readonly oldAttempt: string;
    readonly oldAttemptText: (time: string) => string;
    readonly list: string;
    readonly listSignedOut: string;
    readonly listOffline: string;
    readonly listTryAgain: string;
  };

  readonly list: {
    readonly title: string;
    readonly refresh: string;
    readonly loading: string;
    readonly upToDate: string;
    readonly updated: string;
    readonly count: Plural;
    /** While older inquiries are not loaded. */
    readonly newest: Plural;
    readonly more: string;
    readonly moreShown: Plural;
    readonly noSubject: string;
    readonly noMessage: string;
    readonly showAll: string;
    readonly showAllOf: (size: string) => string;
    readonly showLess: string;
    readonly emptyTitle: string;
    readonly empty: string;
    /** Where answers come: not here. */
    readonly answers: (email: string) => string;
    readonly answersFrom: (sender: string, email: string) => string;
    readonly search: string;
    readonly period: string;
    readonly anyTime: string;
    readonly lastDays: Plural;
    readonly lastMonths: Plural;
    readonly matches: Plural;
    readonly noMatch: string;
    /** Below `noMatch` and matches while older inquiries are not loaded. */
    readonly searchedNewest: Plural;
    readonly clear: string;
    readonly today: string;
    readonly yesterday: string;
    readonly copyText: string;
    readonly copyLink: string;
    readonly copied: string;
    readonly notCopied: string;
    /** The address names an inquiry that this user does not have. */
    readonly notFound: string;
  };
}
