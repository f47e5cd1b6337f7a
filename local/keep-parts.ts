/** @returns Leaves a part to be closed with the others, the last one first. */
export const keepIn =
  (parts: AsyncDisposableStack) =>
  <Part extends { close(): Promise<void> }>(part: Part): Part => {
    parts.defer(() => part.close());
    return part;
  };
export type Keep = ReturnType<typeof keepIn>;
