/** Callers isolate the texts that they put in (messages.ts). */

/** By the language's plural rules (CLDR); `{n}` is the number. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Message {
  title: string;
  text?: string | undefined;
  /** The service's own words, in English. */
  english?: string | undefined;
}

export const strings = {
  page: {
    /** The document's title, before the company's name. */
    title: 'Contact us',
    language: 'Language',
    /** The button for language and account on phones. */
    menu: 'Menu',
    home: 'Home',
    privacy: 'Privacy',
    imprint: 'Legal notice',
    /** A link where the visitor gives data (GDPR, article 13). */
    yourData: 'How we handle your data',
    reload: 'Reload',
    wait: 'One moment…',
    cannotStart: 'The contact form cannot start',
    /** The browser stores nothing or lacks an API. */
    unsupported: 'Allow the page to store data, or try another browser.',
  },
  session: {
    lead: 'Sign in to write to us and to see what you’ve sent before.',
    /** When the address names an inquiry. */
    toSee: (reference: string) => `Sign in to see inquiry ${reference}.`,
    signIn: 'Sign in',
    signInAgain: 'Sign in again',
    signOut: 'Sign out',
    signedOut: 'You’re signed out',
    signedOutHere: 'You’re signed out of this site',
    mayBeSignedIn:
      'The sign-in service didn’t respond, so you may still be signed in there. On a shared computer, close the browser.',
    cancelled: 'The sign-in was cancelled',
    failed: 'We couldn’t sign you in',
    noAnswer: 'The sign-in service isn’t responding',
    /** In the element, whose page does the sign-in. */
    required: 'Please sign in',
  },
  form: {
    title: 'How can we help?',
    lead: 'Tell us what it’s about.',
    topics: 'Topics',
    fields: { subject: 'Subject (optional)', body: 'Message' },
    empty: 'Please write a message.',
    noMail: (email: string) => `We can’t send email to ${email}.`,
    reachable: 'In your message, please tell us how else we can reach you.',
    send: 'Send inquiry',
    sending: 'Sending…',
    tryAgain: 'Try again',
    kept: 'Draft saved in this browser.',
    notKept: 'This browser can’t save drafts. Keep this page open.',
    slow: 'This is taking longer than usual.',
    ready: 'Ready to send',
    /** Below the title of `failures.offline`. */
    offline: 'You can keep writing.',
    size: (used: string, limit: string) => `${used} of ${limit}`,
    tooLarge: (over: string) => `Too long by ${over}. Please shorten your message.`,
    backToForm: 'Write to us',
    connected: 'You’re connected again',
  },
  sent: {
    title: 'We’ve received your inquiry',
    reference: 'Reference',
    copy: 'Copy reference',
    next: (email: string) => `We’ll reply by email to ${email}.`,
    answersFrom: (sender: string, email: string) =>
      `Our reply will come from ${sender} to ${email}.`,
    reachable: 'If your message doesn’t say how else we can reach you, please write another.',
    another: 'Write another',
    elsewhere: 'You sent this inquiry from another tab.',
  },
  ask: {
    unsent: {
      title: 'You have unsent text',
      text: 'Keep it in this browser until you sign in again, or delete it?',
    },
    keepAndSignOut: 'Keep it and sign out',
    deleteAndSignOut: 'Delete it and sign out',
    staySignedIn: 'Stay signed in',
    sendVersion: 'Send this version too',
    goOnEditing: 'Keep editing',
  },
  failures: {
    'signed-out': 'Your session has ended',
    'too-large': 'Your inquiry is too long',
    busy: 'The service is very busy',
    limit: 'You’ve sent the most inquiries allowed in an hour',
    conflict: 'Your inquiry is still being sent',
    reused: 'An earlier version of this inquiry has already been sent',
    refused: 'That request wasn’t accepted',
    offline: 'You’re offline',
    unreachable: 'The service isn’t responding',
    server: 'Something went wrong on our side',
    unknown: 'We can’t tell yet whether your inquiry arrived.',
    nothingSent: 'Nothing was sent.',
    textKept: 'We’ve kept your text.',
    trySafely: 'It’s safe to try again: we store it only once.',
    shorten: (limit: string) => `Subject and message together can’t be larger than ${limit}.`,
    wait: (time: string) => `You can send it from ${time}.`,
    again: 'Please try again in a minute.',
    oldAttempt: 'We may already have your inquiry',
    oldAttemptText: (date: string, time: string) => `You tried to send this on ${date} at ${time}.`,
    list: 'We couldn’t load your inquiries.',
    listOffline: 'They’ll load when you’re back online.',
  },
  list: {
    title: 'Your inquiries',
    refresh: 'Refresh',
    updated: 'The list has been updated.',
    count: { one: '{n} inquiry', other: '{n} inquiries' } as Plural,
    more: 'Show more',
    noMessage: 'No message',
    showAll: 'Show all',
    showLess: 'Show less',
    /** After the texts of `sent`. */
    answers: 'Answers don’t appear here.',
    search: 'Search your inquiries',
    period: 'Period',
    anyTime: 'Any time',
    periods: ['Last 7 days', 'Last 30 days', 'Last 12 months'] as string[],
    matches: { one: '{n} match', other: '{n} matches' } as Plural,
    noMatch: 'No matching inquiries',
    noMatchYet: 'No matches so far',
    /** While a search loads older inquiries. */
    searching: 'Searching older inquiries…',
    clear: 'Clear search',
    copyText: 'Copy text',
    copyLink: 'Copy link',
    copied: 'Copied',
    notCopied: 'Couldn’t copy',
    notFound: 'This inquiry isn’t in your list.',
    otherAccount: (email: string) =>
      `You’re signed in as ${email}. To use another account, sign out first.`,
  },
};

export type Strings = typeof strings;
