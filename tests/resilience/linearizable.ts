/** An operation without an answer may happen at any time, or never. */
interface Timed {
  begin: number;
  /** Infinity without an answer. */
  end: number;
}

/**
 * Whether an order of the operations gives each its answer. An operation that had ended when another began comes before
 * it (Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; Lowe, 2017, remembers what was tried).
 *
 * @param step - The state after the operation; undefined if its answer is impossible in this state.
 */
export function isLinearizable<Operation extends Timed, State>(
  operations: Operation[],
  initial: State,
  step: (state: State, operation: Operation) => State | undefined,
): boolean {
  const tried = new Set<string>();
  const search = (left: [number, Operation][], state: State): boolean => {
    if (left.every(([, { end }]) => end === Infinity)) return true;
    const place = JSON.stringify([left.map(([at]) => at), state]);
    if (tried.has(place)) return false;
    tried.add(place);
    const firstEnd = Math.min(...left.map(([, { end }]) => end));
    return left.some(([at, operation]) => {
      if (operation.begin > firstEnd) return false;
      const next = step(state, operation);
      if (next === undefined) return false;
      return search(
        left.filter(([other]) => other !== at),
        next,
      );
    });
  };
  // Operations with an answer are tried first.
  const byEnd = operations.toSorted((one, other) => one.end - other.end);
  return search([...byEnd.entries()], initial);
}
