/** The published versions of a function, and its alias `live`, which is what is invoked (infra/terraform/function.tf). */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
} from '@aws-sdk/client-lambda';
import { NETWORK } from '../lib/aws.ts';
import { UsageError } from '../lib/command-line.ts';

const ALIAS = 'live';
export const liveOf = (functionName: string): string => `${functionName}:${ALIAS}`;

export interface Live {
  readonly version: string;
  /** Changes with every change of the alias. */
  readonly revisionId: string | undefined;
}

export interface Version {
  /** A number, from 1. */
  readonly version: string;
  /** ISO 8601. */
  readonly date: string;
  /** SHA-256 of the package, base64. */
  readonly sha256: string;
}

const lambda = new Lambda(NETWORK);

/** @throws ResourceNotFoundException when there is no such function, or when it has no alias `live`. */
export async function readLive(functionName: string): Promise<Live> {
  const alias = await lambda.getAlias({ FunctionName: functionName, Name: ALIAS });
  return { version: alias.FunctionVersion ?? '', revisionId: alias.RevisionId };
}

/** The published versions, newest first; not `$LATEST`. */
export async function listVersions(functionName: string): Promise<Version[]> {
  const versions: Version[] = [];
  const pages = paginateListVersionsByFunction({ client: lambda }, { FunctionName: functionName });
  for await (const { Versions = [] } of pages) {
    for (const {
      Version: version = '',
      LastModified: date = '',
      CodeSha256: sha256 = '',
    } of Versions) {
      if (version !== '$LATEST') versions.push({ version, date, sha256 });
    }
  }
  return versions.toSorted((a, b) => Number(b.version) - Number(a.version));
}

/**
 * Makes the alias name another version.
 *
 * @param before - The alias as it was read.
 * @throws UsageError when another deployment has changed the alias since.
 */
export async function switchAlias(name: string, version: string, before: Live): Promise<void> {
  try {
    await lambda.updateAlias({
      FunctionName: name,
      Name: ALIAS,
      FunctionVersion: version,
      // Nor does another version get a share of the requests.
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId: before.revisionId,
    });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // It may be this change: the SDK sends it again when the first response is lost.
    const now = await readLive(name);
    if (now.version === version) return;
    throw new UsageError(
      `Version ${now.version} of ${name} was made live by another command at the same time; nothing was switched.`,
      { cause: error },
    );
  }
}
