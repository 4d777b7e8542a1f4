/** A broken invariant of our own: never caught, never a user's mistake (those are `checkOption`'s). */
export function assert(ok: boolean, invariant: string): asserts ok {
  if (!ok) throw broken(invariant);
}

/** Ends an exhaustive switch: a new member of the union fails to compile here. */
export function assertNever(value: never): never {
  throw broken(`unexpected ${String(value)}`);
}

function broken(invariant: string): Error {
  return new Error(`bobtail invariant broken: ${invariant}`);
}

/** The item at an index that is known to be in range. */
export function nth<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}
