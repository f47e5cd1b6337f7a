import { randomBytes, randomUUID } from 'node:crypto';
import { CognitoIdentityProvider } from '@aws-sdk/client-cognito-identity-provider';
import { NETWORK } from '../../lib/aws/aws.ts';
import { assert } from '../../lib/contract/contract-checks.ts';
import type { StageOutputs } from '../stage.ts';

// The prefix satisfies every rule for passwords.
const createPassword = (): string => `aA1!${randomBytes(24).toString('base64url')}`;

/**
 * Creates a user with a temporary password, signs in with a new one, and lets the user delete itself: the role that
 * deploys may set no password and delete no user. A new user each time, because the limit per hour counts by user. If
 * the sign-in fails, the user remains, without a password that anyone knows.
 *
 * @returns The ID token.
 * @throws Error without the user's email and passwords.
 */
export async function signInOnce({
  user_pool_id: UserPoolId,
  client_id: ClientId,
}: NonNullable<StageOutputs['smoke_sign_in']>): Promise<string> {
  const client = new CognitoIdentityProvider(NETWORK);
  const email = `smoke-test-${randomUUID()}@inquiries.invalid`;
  const temporary = createPassword();
  const password = createPassword();
  try {
    await client.adminCreateUser({
      UserPoolId,
      Username: email,
      TemporaryPassword: temporary,
      MessageAction: 'SUPPRESS',
      UserAttributes: [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ],
    });
    const { Session, ChallengeParameters } = await client.adminInitiateAuth({
      UserPoolId,
      ClientId,
      AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
      AuthParameters: { USERNAME: email, PASSWORD: temporary },
    });
    const { AuthenticationResult, ChallengeName } = await client.adminRespondToAuthChallenge({
      UserPoolId,
      ClientId,
      ChallengeName: 'NEW_PASSWORD_REQUIRED',
      Session,
      // The pool's name for the user, whose email address is an alias.
      ChallengeResponses: {
        USERNAME: ChallengeParameters?.['USER_ID_FOR_SRP'] ?? email,
        NEW_PASSWORD: password,
      },
    });
    const { IdToken, AccessToken } = AuthenticationResult ?? {};
    assert(IdToken !== undefined, `Cognito asks for ${ChallengeName} instead of signing in`);
    await client.deleteUser({ AccessToken });
    return IdToken;
  } catch (error) {
    // Cognito's messages may repeat what was sent.
    const failure = error as Error;
    const message = failure.message.replaceAll(/(smoke-test-|aA1!)[^"\s]+/g, '…');
    failure.message = `${failure.name}: ${message}`;
    throw error;
  }
}
