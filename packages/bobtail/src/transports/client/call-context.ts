import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../core/clock.ts";
import { checkOption } from "../../core/errors.ts";
import { systemClock } from "../system-clock.ts";

/** What a request that is being served says about the calls made on its behalf. */
export interface ContextMarks {
  /** What is left of its deadline, in ms from now; above 0; default none. Calls made inside never outlive it. */
  readonly deadlineMs?: number | undefined;
  /** An upper level hedges already, so calls made inside must not; default false. */
  readonly noHedge?: boolean | undefined;
  /** Whose milliseconds count; default the system's. A virtual one in tests. */
  readonly clock?: Clock | undefined;
}

/** The marks in force, with the deadline as an absolute time of that clock. */
export interface CallContext {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly noHedge: boolean;
}

/**
 * Made by the first `withContext` of the process: on Node 20 its mere use makes every `await` in the
 * process four times as dear (55 to 235 ns), so a program that does not ask for it does not pay.
 */
let storage: AsyncLocalStorage<CallContext> | undefined;

/** The call whose attempt's function runs at this moment, up to its first `await`. */
let current: CallContext | undefined;

/** The marks that a call made here inherits. */
export function currentContext(): CallContext | undefined {
  return current ?? storage?.getStore();
}

/**
 * Runs `fn`, and everything it awaits, on behalf of a request with this deadline and these marks:
 * `withContext({ deadlineMs: 200, noHedge: true }, () => handle(request))`. Contexts nest: the earlier
 * deadline holds, and a mark stays. Throws `ERR_BOBTAIL_OPTION` for a deadline that is not above 0.
 */
export function withContext<T>(marks: ContextMarks, fn: () => T): T {
  const { deadlineMs = Number.POSITIVE_INFINITY, clock = systemClock } = marks;
  checkOption({ deadlineMs }, "milliseconds above 0", deadlineMs > 0);
  const outer = currentContext();
  let atMs = clock.nowMs() + deadlineMs;
  if (outer !== undefined) atMs = Math.min(atMs, deadlineOn(clock, outer));
  const noHedge = (marks.noHedge ?? false) || (outer?.noHedge ?? false);
  storage ??= new AsyncLocalStorage<CallContext>();
  const suspended = current;
  current = undefined;
  try {
    return storage.run({ clock, deadlineMs: atMs, noHedge }, fn);
  } finally {
    current = suspended;
  }
}

/** The deadline of a context in the milliseconds of this clock. */
export function deadlineOn(clock: Clock, context: CallContext): number {
  if (context.clock === clock) return context.deadlineMs;
  return clock.nowMs() + (context.deadlineMs - context.clock.nowMs());
}

/**
 * Runs the function of an attempt, so that calls made in it inherit its call's deadline and do not
 * hedge again: all that it makes before its first `await`, and, where `withContext` is in use, those after it too.
 * The two values are passed on, which spares a closure an attempt.
 */
export function withinAttempt<A, B>(
  context: CallContext,
  fn: (a: A, b: B) => void,
  a: A,
  b: B,
): void {
  if (storage !== undefined) {
    const suspended = current;
    current = undefined;
    try {
      storage.run(context, fn, a, b);
    } finally {
      current = suspended;
    }
    return;
  }
  const outer = current;
  current = context;
  try {
    fn(a, b);
  } finally {
    current = outer;
  }
}
