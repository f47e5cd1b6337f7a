/** The session as the rest of the page uses it. */

export interface User {
  sub: string;
  email: string;
}

/** The session has ended; the user has to sign in again. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

export interface Session {
  user: User;
  /**
   * An ID token that has not expired, refreshed when necessary.
   *
   * @param refused - A token that the API rejected; another one is returned.
   * @throws SignedOut when the session has ended; any other error when the issuer cannot be reached.
   */
  token(refused?: string): Promise<string>;
}
