/** The log shows this name, which is the SDK's. */
class CredentialsProviderError extends Error {
  override readonly name = 'CredentialsProviderError';
}

/** Reads the credentials that Lambda puts into the environment. docs/adr/0060 */
export function defaultProvider() {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) {
      throw new CredentialsProviderError('AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set.');
    }
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  };
}
