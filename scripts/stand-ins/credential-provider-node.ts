/**
 * In the bundle, in the place of the SDK's chain of credential providers (environment, single sign-on, profiles,
 * processes, containers, instance metadata): Lambda gives a function its credentials in the environment, always.
 */
export function defaultProvider() {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) throw new Error('There are no credentials in the environment.');
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  };
}
