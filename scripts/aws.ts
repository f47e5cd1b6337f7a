/** How the commands call AWS. */

/** Without these the SDK waits for ever. A page of 16 MB takes seconds on a slow line. */
export const NETWORK = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 20_000,
    throwOnRequestTimeout: true,
    socketTimeout: 20_000,
  },
};
