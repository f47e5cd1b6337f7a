import { escapeUnsafe } from './terminal-text.ts';

/** Without these, the SDK waits forever. A page of 16 MB takes seconds on a slow line. */
export const NETWORK = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 3_000,
    requestTimeout: 20_000,
    throwOnRequestTimeout: true,
    socketTimeout: 20_000,
  },
};

/** @param service - Terraform's variable `name`. */
export const tableOf = (stage: string, service = 'inquiries'): string => `${service}-${stage}`;

const NO_CREDENTIALS =
  'There are no valid AWS credentials; set AWS_PROFILE or sign in (aws sso login).';
const THROTTLED = 'DynamoDB is throttling requests; try again.';

const CREDENTIAL_ERRORS = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
]);
const THROTTLING_ERRORS = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
]);

/**
 * Says in one line what an operator can do about an error of AWS or the network.
 *
 * @returns An error for the terminal; others unchanged.
 */
export function describeFailure(
  error: unknown,
  { stage, service, table }: Partial<Record<'stage' | 'service' | 'table', string | undefined>>,
): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, code } = error as NodeJS.ErrnoException;
  const place = stage === undefined ? 'the local stack' : `the stage ${stage}`;
  const named =
    stage === undefined && table === undefined
      ? 'The table of the local stack'
      : `The table ${escapeUnsafe(table ?? tableOf(stage ?? '', service))}`;
  const remedy =
    stage === undefined
      ? 'restart the stack with npm start'
      : `deploy the stage: npm run deploy -- ${stage}`;

  const describe = (): string | undefined => {
    if (CREDENTIAL_ERRORS.has(name)) return NO_CREDENTIALS;
    if (THROTTLING_ERRORS.has(name)) return THROTTLED;
    if (message === 'Region is missing') {
      return 'There is no AWS region; set AWS_REGION or AWS_PROFILE.';
    }
    // The SDK adds it to responses and network errors.
    if (!('$metadata' in error)) return undefined;
    if (name === 'TimeoutError' || code !== undefined) {
      return `${stage === undefined ? 'The engine of the local stack' : 'AWS'} cannot be reached (${code ?? name}).`;
    }
    if (name === 'ResourceNotFoundException') {
      const where = stage === undefined ? '' : ' in this account and region';
      return `${named} does not exist${where}${table === undefined ? `; ${remedy}` : ''}.`;
    }
    if (name.startsWith('AccessDenied')) {
      const [, action = 'this'] = /to perform: (\S+)/.exec(message) ?? [];
      return `The AWS credentials do not allow ${action}; they need the operators' policy of ${place}.`;
    }
    const [line = ''] = message.split('\n');
    return `${name}: ${line}`;
  };
  const line = describe();
  return line === undefined ? error : new Error(line, { cause: error });
}
