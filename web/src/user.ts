export interface User {
  sub: string;
  email: string;
}

export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

export interface Session {
  user: User;
  /** @throws SignedOut when the session has ended; other errors when the issuer cannot be reached. */
  token(refused?: string): Promise<string>;
}
