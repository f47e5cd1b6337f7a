/** What a session offers to the rest of the page. */

export interface User {
  readonly sub: string;
  readonly email: string;
}

/** The session has ended: whoever wants to go on has to sign in again. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

export interface Session {
  readonly user: User;
  /**
   * An ID token that is still good, a fresh one when need be.
   *
   * @param refused - The token that the API has just refused: the answer is another one.
   * @throws SignedOut when there is none to be had; any other error when the issuer cannot be reached.
   */
  token(refused?: string): Promise<string>;
}
