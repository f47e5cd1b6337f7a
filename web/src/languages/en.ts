import type { Plural } from './strings.ts';

export const strings = {
  page: {
    /** Title of the document. @param name - Of the company; empty: none is set. */
    title: (name: string) => (name === '' ? 'Contact us' : `Contact ${name}`),
    /** Label of the language menu. */
    language: 'Language',
    /** Label of the button for language and account, on phones. */
    menu: 'Menu',
    home: 'Home',
    privacy: 'Privacy',
    imprint: 'Legal notice',
    reload: 'Reload',
    cannotStart: 'The contact form cannot start',
    /** The browser stores nothing or lacks an API. */
    unsupported:
      'This browser doesn’t let the page store anything, or is too old for it. Allow the page to store data, or try another browser.',
  },
  session: {
    lead: 'Sign in to write to us and to see what you’ve sent before.',
    hint: 'After signing in you come back to this page. No other user sees what you send.',
    signIn: 'Sign in',
    signingIn: 'One moment…',
    signInAgain: 'Sign in again',
    signOut: 'Sign out',
    signedOut: { title: 'You’re signed out', text: '' },
    /** The issuer did not answer at sign-out. */
    signedOutHere: {
      title: 'You’re signed out here',
      text: 'The sign-in service didn’t answer, so you may still be signed in there. On a shared computer, close the browser.',
    },
    ended: { title: 'Your session has ended', text: 'We’ve kept your text. Sign in to continue.' },
    cancelled: { title: 'The sign-in was cancelled', text: '' },
    failed: { title: 'The sign-in didn’t work', text: 'Please try again.' },
    noAnswer: {
      title: 'The sign-in service doesn’t answer',
      text: 'Check your connection and try again.',
    },
    /** In the custom element, whose page does the sign-in. */
    required: { title: 'Please sign in', text: 'Sign in on this site to write to us.' },
  },
  form: {
    title: 'How can we help?',
    /** Default of the introduction. */
    lead: 'Tell us what it’s about.',
    topics: 'Topics',
    fields: { subject: 'Subject (optional)', body: 'Message' },
    /** Subject and message are empty. */
    empty: 'Please write a message.',
    /** The address of the account is one to which no mail can go. */
    noMail: (email: string) => `We can’t send email to ${email}.`,
    /** What the user can do about it. */
    reachable:
      'In your message, please tell us how else we can reach you, such as another email address or a phone number.',
    send: 'Send inquiry',
    sending: 'Sending…',
    tryAgain: 'Try again',
    kept: 'Draft saved in this browser.',
    notKept: 'This browser can’t save drafts. Keep this page open.',
    slow: 'This is taking longer than usual. Please keep this page open.',
    ready: {
      title: 'Ready to send',
      text: 'Your inquiry hasn’t been sent yet. Your text is as you left it.',
    },
    /** Below the title of `failures.offline`. */
    offline: 'You can keep writing. Send it when you’re connected again.',
    /** @param used, limit - Sizes with their units. */
    size: (used: string, limit: string) => `${used} of ${limit}`,
    tooLarge: (over: string) => `Too long by ${over}. Please shorten your message.`,
    backToForm: 'Write to us',
    /** Title, after having been offline. */
    connected: 'You’re connected again',
  },
  sent: {
    title: 'We’ve received your inquiry',
    reference: 'Reference',
    copy: 'Copy reference',
    /** Default of what to expect. */
    next: (email: string) => `We’ll answer by email to ${email}.`,
    answersFrom: (sender: string, email: string) =>
      `Our answer comes by email from ${sender} to ${email}.`,
    reachable: 'If your message doesn’t say how else we can reach you, please write another.',
    another: 'Write another',
    /** Another tab has sent the text that this tab shows. */
    elsewhere: { title: 'Already sent', text: 'You sent this inquiry from another tab.' },
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
    limit: 'You’ve reached the hourly limit',
    conflict: 'Your inquiry is still being processed',
    reused: 'An earlier version of this inquiry has already been sent',
    refused: 'The service didn’t accept this',
    offline: 'You’re offline',
    unreachable: 'The service doesn’t answer',
    server: 'Something went wrong on our side',
    /** What became of the inquiry, then of the text, then what to do. */
    unknown: 'We can’t tell yet whether your inquiry arrived.',
    nothingSent: 'Nothing was sent.',
    textKept: 'We’ve kept your text.',
    trySafely: 'It’s safe to try again: we store it only once.',
    signInToFinish: 'Sign in again and we’ll finish sending it: we store it only once.',
    signInToSend: 'Sign in again, and it’s ready to send.',
    shorten: (limit: string) =>
      `Subject and message together can take up to ${limit}. Please shorten them.`,
    /** @param wait - `minutes`, or empty. */
    wait: (wait: string, time: string) =>
      `You’ve sent as many inquiries as we accept in an hour. You can send it ${wait === '' ? '' : `${wait}, `}at ${time}.`,
    minutes: { one: 'in {n} minute', other: 'in {n} minutes' } as Plural,
    again: 'Please try again in a minute.',
    otherVersion: 'The earlier version has arrived. Do you want to send this version too?',
    oldAttempt: 'An earlier attempt may have arrived',
    oldAttemptText: (time: string) =>
      `You tried to send this on ${time}. We can no longer tell whether it arrived.`,
    list: 'We couldn’t load your inquiries.',
    listSignedOut: 'Sign in again to see them.',
    listOffline: 'They load when you’re connected again.',
  },
  list: {
    title: 'Your inquiries',
    refresh: 'Refresh',
    loading: 'Loading your inquiries.',
    updated: 'The list has been updated.',
    count: { one: '{n} inquiry', other: '{n} inquiries' } as Plural,
    more: 'Show more',
    noSubject: 'No subject',
    noMessage: 'No message',
    showAll: 'Show all',
    showLess: 'Show less',
    /** Comes before where they do, of `sent`. */
    answers: 'Answers don’t appear here.',
    search: 'Search your inquiries',
    period: 'Period',
    anyTime: 'Any time',
    periods: ['Last 7 days', 'Last 30 days', 'Last 12 months'] as readonly string[],
    matches: { one: '{n} match', other: '{n} matches' } as Plural,
    noMatch: 'No inquiry matches',
    /** While older inquiries are loaded for a search. */
    noMatchYet: 'No matches so far',
    /** After the older ones could not be loaded. */
    notSearched: 'Older inquiries haven’t been searched yet.',
    /** While older inquiries are loaded for a search. */
    searching: 'Searching older inquiries…',
    clear: 'Clear search',
    today: 'Today',
    yesterday: 'Yesterday',
    copyText: 'Copy text',
    copyLink: 'Copy link',
    copied: 'Copied',
    notCopied: 'Copying didn’t work',
    /** The address names an inquiry that this user does not have. */
    notFound: 'This inquiry isn’t in your list.',
  },
};

/** What each language has: the texts of English. */
export type Strings = typeof strings;
