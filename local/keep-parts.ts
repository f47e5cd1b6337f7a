/** @returns A function that keeps a part, to close all of them later, the last one first. */
export const keepIn =
  (parts: AsyncDisposableStack) =>
  <Part extends { close(): Promise<void> }>(part: Part): Part => {
    parts.defer(() => part.close());
    return part;
  };
export type Keep = ReturnType<typeof keepIn>;
