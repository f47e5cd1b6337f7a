/** Versions of a function and the alias that the gateway calls. */

/** @returns The versions that were deleted. */
export async function pruneVersions(_functionName: string, _keep: number): Promise<string[]> {
  return [];
}

/** Makes the alias `live` name one version alone. */
export async function switchAlias(_functionName: string, _version: string): Promise<void> {}
