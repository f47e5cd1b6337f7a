import { escapeUnsafe } from '../terminal/terminal-text.ts';

/** Without these, the SDK would wait forever. A page of 16 MB takes seconds on a slow line. */
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

/** What a command works on, for messages. */
export interface Target {
  server: string;
  missing: string;
  policy: string;
}

export const ACCOUNT: Target = {
  server: 'AWS',
  missing: 'The resource does not exist in this account and region.',
  policy: 'the role of a deployment',
};

/** Without a stage, the target is the local stack. */
export function createTarget({
  stage,
  service,
  table,
}: Partial<Record<'stage' | 'service' | 'table', string | undefined>>): Target {
  const isNamed = table !== undefined;
  if (stage === undefined) {
    const named = isNamed ? `The table ${escapeUnsafe(table)}` : 'The table of the local stack';
    return {
      server: 'The engine of the local stack',
      missing: `${named} does not exist${isNamed ? '' : '; restart the stack with npm start'}.`,
      policy: "the operators' policy of the local stack",
    };
  }
  const named = `The table ${escapeUnsafe(table ?? tableOf(stage, service))}`;
  const remedy = isNamed ? '' : `; deploy the stage: npm run deploy -- ${stage}`;
  return {
    server: 'AWS',
    missing: `${named} does not exist in this account and region${remedy}.`,
    policy: `the operators' policy of the stage ${stage}`,
  };
}

/**
 * Says in one line what an operator can do about an error of AWS or the network.
 *
 * @returns An error for the terminal; any other error unchanged.
 */
export function describeFailure(error: unknown, { server, missing, policy }: Target): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, code } = error as NodeJS.ErrnoException;

  const describe = (): string | undefined => {
    if (CREDENTIAL_ERRORS.has(name)) return NO_CREDENTIALS;
    if (THROTTLING_ERRORS.has(name)) return THROTTLED;
    if (message === 'Region is missing') {
      return 'There is no AWS region; set AWS_REGION or AWS_PROFILE.';
    }
    // The SDK adds `$metadata` to responses and network errors.
    if (!('$metadata' in error)) return undefined;
    if (name === 'TimeoutError' || code !== undefined) {
      return `${server} cannot be reached (${code ?? name}).`;
    }
    if (name === 'ResourceNotFoundException') return missing;
    if (name.startsWith('AccessDenied')) {
      const [, action = 'this'] = /to perform: (\S+)/.exec(message) ?? [];
      return `The AWS credentials do not allow ${action}; they need ${policy}.`;
    }
    const [line = ''] = message.split('\n');
    return `${name}: ${line}`;
  };
  const line = describe();
  return line === undefined ? error : new Error(line, { cause: error });
}
