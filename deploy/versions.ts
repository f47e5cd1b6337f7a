/** The versions of a function, and its alias, which says which one is live. */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { ACCOUNT, describeFailure, NETWORK } from '../lib/aws/aws.ts';
import { UsageError } from '../lib/terminal/command-line.ts';

export const LIVE = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${LIVE}`;

const lambda = new Lambda(NETWORK);

/** The alias's version until one has passed its checks. */
export const NONE = '$LATEST';

/** An alias. Its description keeps what the next deployment has to know. */
export interface Live {
  version: string;
  passed?: string | undefined;
  /** `VERSION withdrawn at TIME`: the next apply checks the newest version again (infra/terraform/function/main.tf). */
  withdrawn?: string | undefined;
  RevisionId?: string | undefined;
}

/** @throws ResourceNotFoundException without the function or its alias. */
export async function readLive(FunctionName: string): Promise<Live> {
  const { FunctionVersion, Description, RevisionId } = await lambda.getAlias({
    FunctionName,
    Name: LIVE,
  });
  const found = /(?:Passed its smoke test: (\d+)\. ?)?(\S+ withdrawn at \S+)?/.exec(
    Description ?? '',
  );
  return { version: FunctionVersion ?? '', passed: found?.[1], withdrawn: found?.[2], RevisionId };
}

export const describeWithdrawal = (version: string): string =>
  `${version} withdrawn at ${new Date().toISOString()}`;

export async function readVersion(FunctionName: string, Qualifier: string) {
  const { CodeSha256 = '', Environment } = await lambda.getFunctionConfiguration({
    FunctionName,
    Qualifier,
  });
  return { hash: CodeSha256, environment: Environment?.Variables ?? {} };
}

const describe = (error: Error): string => (describeFailure(error, ACCOUNT) as Error).message;

export const describeLive = (functions: string[]): Promise<string[]> =>
  Promise.all(
    functions.map((name) =>
      readLive(name).then(
        ({ version }) =>
          `${version === NONE ? 'No version' : `Version ${version}`} of ${name} is live.`,
        (error: Error) => `No live version of ${name} could be read: ${describe(error)}`,
      ),
    ),
  );

/**
 * Publishes a version. If nothing has changed, Lambda answers with the last one.
 *
 * @param CodeSha256 - Lambda refuses to publish another package.
 */
export async function publish(FunctionName: string, CodeSha256: string): Promise<string> {
  const { Version = '' } = await lambda.publishVersion({ FunctionName, CodeSha256 });
  return Version;
}

/** The published versions, newest first; not `$LATEST`. */
export async function listVersions(FunctionName: string) {
  const pages = await Array.fromAsync(
    paginateListVersionsByFunction({ client: lambda }, { FunctionName }),
  );
  return pages
    .flatMap(({ Versions = [] }) => Versions)
    .map(({ Version, LastModified, CodeSha256 }) => ({
      version: Number(Version),
      date: LastModified,
      hash: CodeSha256,
    }))
    .filter(({ version }) => version > 0)
    .toSorted((a, b) => b.version - a.version);
}

/**
 * Changes an alias.
 *
 * @param live - As it was read.
 * @throws UsageError if another command has changed it meanwhile.
 */
export async function updateLive(
  FunctionName: string,
  live: Live,
  changes: Partial<Live>,
): Promise<void> {
  const { version, passed, withdrawn, RevisionId } = { ...live, ...changes };
  const Description = [passed && `Passed its smoke test: ${passed}.`, withdrawn]
    .filter(Boolean)
    .join(' ');
  const request = { FunctionName, Name: LIVE, FunctionVersion: version, RevisionId };
  try {
    await lambda.updateAlias({ ...request, ...(Description && { Description }) });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // It may be this change, which the SDK has sent again after a lost response.
    const { version: found } = await readLive(FunctionName);
    if (found === version) return;
    throw new UsageError(
      `Version ${found} of ${FunctionName} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}
