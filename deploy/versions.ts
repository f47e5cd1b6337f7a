/** The published versions of a function, and its alias `live`, which is what is invoked (infra/terraform/function.tf). */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';

const Name = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${Name}`;

export interface Live {
  readonly version: string;
  /** Changes with every change of the alias. */
  readonly revisionId: string | undefined;
}

const lambda = new Lambda(NETWORK);

/** @throws ResourceNotFoundException when there is no such function, or when it has no alias `live`. */
export async function readLive(FunctionName: string): Promise<Live> {
  const { FunctionVersion = '', RevisionId } = await lambda.getAlias({ FunctionName, Name });
  return { version: FunctionVersion, revisionId: RevisionId };
}

/** The published versions, newest first; not `$LATEST`: a number, an ISO 8601 date, and the SHA-256 of the package. */
export async function listVersions(FunctionName: string) {
  const pages = await Array.fromAsync(
    paginateListVersionsByFunction({ client: lambda }, { FunctionName }),
  );
  return pages
    .flatMap(({ Versions = [] }) => Versions)
    .map(({ Version = '', LastModified = '', CodeSha256 = '' }) => ({
      version: Version,
      date: LastModified,
      sha256: CodeSha256,
    }))
    .filter(({ version }) => version !== '$LATEST')
    .toSorted((a, b) => Number(b.version) - Number(a.version));
}

/**
 * Makes the alias name another version.
 *
 * @param before - The alias as it was read.
 * @throws UsageError when another deployment has changed the alias since.
 */
export async function switchAlias(
  FunctionName: string,
  version: string,
  { revisionId: RevisionId }: Live,
): Promise<void> {
  try {
    await lambda.updateAlias({
      FunctionName,
      Name,
      FunctionVersion: version,
      // Nor does another version get a share of the requests.
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId,
    });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // It may be this change: the SDK sends it again when the first response is lost.
    const now = await readLive(FunctionName);
    if (now.version === version) return;
    throw new UsageError(
      `Version ${now.version} of ${FunctionName} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}
