/** The published versions of a function, and its alias `live`, which the gateway calls (infra/terraform/function.tf). */
import {
  Lambda,
  paginateListVersionsByFunction,
  PreconditionFailedException,
  ResourceConflictException,
} from '@aws-sdk/client-lambda';
import { UsageError } from '../lib/command-line.ts';
import { NETWORK } from '../lib/aws.ts';

export const ALIAS = 'live';

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
  /** The commit it was deployed from, as far as its description names one. */
  readonly commit: string | undefined;
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
      Description,
    } of Versions) {
      const commit = /, commit ([^:]+):/.exec(Description ?? '')?.[1];
      if (/^\d+$/.test(version)) versions.push({ version, date, sha256, commit });
    }
  }
  return versions.toSorted((a, b) => Number(b.version) - Number(a.version));
}

/**
 * Makes the alias name another version.
 *
 * @param revisionId - Of the alias as it was read.
 * @throws UsageError when somebody else has changed the alias since.
 */
export async function switchAlias(
  name: string,
  version: string,
  revisionId: string | undefined,
): Promise<void> {
  try {
    await lambda.updateAlias({
      FunctionName: name,
      Name: ALIAS,
      FunctionVersion: version,
      // Nor does another version get a share of the requests.
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId: revisionId,
    });
  } catch (error) {
    if (!(error instanceof PreconditionFailedException)) throw error;
    // It may be our own change: the SDK sends it again when the first response is lost.
    const now = await readLive(name);
    if (now.version === version) return;
    throw new UsageError(
      `The alias ${ALIAS} of ${name} was changed by somebody else meanwhile and names version ${now.version}; it was not switched.`,
      { cause: error },
    );
  }
}

/**
 * Deletes all but the newest `keep` versions, and none that an alias names.
 *
 * @returns The versions that were deleted.
 */
export async function pruneVersions(functionName: string, keep: number): Promise<string[]> {
  const old = (await listVersions(functionName)).slice(keep);
  const live = await readLive(functionName);
  const deleted: string[] = [];
  for (const { version } of old.filter((each) => each.version !== live.version)) {
    try {
      // Without a qualifier this would delete the function.
      await lambda.deleteFunction({ FunctionName: functionName, Qualifier: version });
      deleted.push(version);
    } catch (error) {
      // Another alias names it.
      if (!(error instanceof ResourceConflictException)) throw error;
    }
  }
  return deleted;
}
