/** The versions of a function, and its alias, which says which one is live. */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws/aws.ts';
import { UsageError } from '../lib/terminal/command-line.ts';

export const LIVE = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${LIVE}`;

const lambda = new Lambda(NETWORK);

/** @throws ResourceNotFoundException without the function or its alias. */
export async function readLive(FunctionName: string) {
  const alias = await lambda.getAlias({ FunctionName, Name: LIVE });
  return { version: alias.FunctionVersion ?? '', RevisionId: alias.RevisionId };
}

/** The code and settings of a version or an alias. */
export async function readVersion(FunctionName: string, Qualifier: string) {
  const { CodeSha256 = '', Environment } = await lambda.getFunctionConfiguration({
    FunctionName,
    Qualifier,
  });
  return { hash: CodeSha256, environment: Environment?.Variables ?? {} };
}

/** The alias's version until one has passed its checks. */
export const NONE = '$LATEST';

/** A sentence for each function. */
export const describeLive = (functions: string[]): Promise<string[]> =>
  Promise.all(
    functions.map((name) =>
      readLive(name).then(
        ({ version }) =>
          `${version === NONE ? 'No version' : `Version ${version}`} of ${name} is live.`,
        ({ message }: Error) => `No live version of ${name} could be read: ${message}.`,
      ),
    ),
  );

/**
 * Without changes, Lambda answers with the last version.
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
    .map(({ Version, LastModified }) => ({ version: Number(Version), date: LastModified }))
    .filter(({ version }) => version > 0)
    .toSorted((a, b) => b.version - a.version);
}

/**
 * Makes the alias name another version.
 *
 * @param withdrawn - The version replaced for a fault, which the next apply checks again (infra/terraform/function/main.tf).
 * @throws UsageError if another command has changed the alias meanwhile.
 */
export async function switchAlias(
  FunctionName: string,
  FunctionVersion: string,
  { RevisionId }: Awaited<ReturnType<typeof readLive>>,
  withdrawn?: string,
): Promise<void> {
  const Description = withdrawn && `${withdrawn} withdrawn at ${new Date().toISOString()}`;
  try {
    await lambda.updateAlias({
      FunctionName,
      Name: LIVE,
      FunctionVersion,
      RevisionId,
      Description,
    });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // Perhaps this change, sent again by the SDK after a lost response.
    const { version } = await readLive(FunctionName);
    if (version === FunctionVersion) return;
    throw new UsageError(
      `Version ${version} of ${FunctionName} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}
