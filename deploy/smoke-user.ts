/** The user of the smoke test, in the user pool of a stage. */
import { randomBytes, randomUUID } from 'node:crypto';
import { CognitoIdentityProvider } from '@aws-sdk/client-cognito-identity-provider';
import { NETWORK } from '../lib/aws.ts';

/**
 * Creates a user, signs in as that user, and deletes the user: the API accepts the token until it expires, and nobody
 * can get another one. The address cannot receive mail (RFC 2606). A new user each time, because the limit of
 * inquiries per hour counts by user, and so that two tests at a time do not change each other's password.
 *
 * @returns The ID token.
 * @throws Error without the user's email and password.
 */
export async function signInOnce(userPool: string, clientId: string): Promise<string> {
  const client = new CognitoIdentityProvider(NETWORK);
  const email = `smoke-test-${randomUUID()}@inquiries.invalid`;
  // The prefix satisfies every rule that a pool can have for passwords.
  const password = `aA1!${randomBytes(24).toString('base64url')}`;
  const user = { UserPoolId: userPool, Username: email };
  try {
    await client.adminCreateUser({
      ...user,
      MessageAction: 'SUPPRESS',
      UserAttributes: [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ],
    });
    try {
      await client.adminSetUserPassword({ ...user, Password: password, Permanent: true });
      const { AuthenticationResult, ChallengeName } = await client.adminInitiateAuth({
        UserPoolId: userPool,
        ClientId: clientId,
        AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
        AuthParameters: { USERNAME: email, PASSWORD: password },
      });
      const token = AuthenticationResult?.IdToken;
      if (token === undefined) {
        throw new Error(`Cognito asks for ${ChallengeName ?? 'more'} instead of signing in`);
      }
      return token;
    } finally {
      await client.adminDeleteUser(user);
    }
  } catch (error) {
    if (error instanceof Error) {
      // Cognito's messages may repeat what was sent.
      const [line = ''] = error.message.split('\n');
      error.message = `${error.name}: ${line}`
        .replaceAll(email, 'USER')
        .replaceAll(password, 'PASSWORD');
    }
    throw error;
  }
}
