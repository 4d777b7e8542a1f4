import type { AttemptKind } from "../../policies/attempt.ts";
import type { AttemptFunction } from "../client/function-sender.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** One copy as a script sees it, and what became of it. */
export interface ScriptedCopy<R> {
  readonly replica: R;
  /** The endpoint's name. */
  readonly endpoint: string;
  readonly kind: AttemptKind;
  /** 1 for the primary. */
  readonly number: number;
  readonly sentAtMs: number;
  /** When this copy was cancelled, and why; `undefined` while it was not. */
  readonly cancelledAtMs: number | undefined;
  readonly cancelReason: unknown;
}

/** After that long (ms, default 0, Infinity: never), the answer or the error. */
export type ScriptedOutcome<O> =
  | { readonly afterMs?: number | undefined; readonly answer: O; readonly error?: undefined }
  | { readonly afterMs?: number | undefined; readonly error: unknown; readonly answer?: undefined };

export interface ScriptedFunction<R, O> {
  /** Give it to `client.call`. */
  readonly fn: AttemptFunction<R, O>;
  /** Every copy that was sent, in order. */
  readonly copies: readonly ScriptedCopy<R>[];
}

/**
 * A function for `client.call` whose copies take as long, and end, as the script says, in virtual time.
 *
 * ```ts
 * const time = virtualTime();
 * const { fn, copies } = scriptedFunction<string, string>(time, (copy) =>
 *   copy.kind === "primary" ? { afterMs: 500, answer: "slow" } : { afterMs: 5, answer: "quick" },
 * );
 * await time.run(client.call(fn, { idempotent: true }));   // "quick"
 * copies[0].cancelledAtMs;                                  // when the hedge won
 * ```
 */
export function scriptedFunction<R, O>(
  time: VirtualTime,
  script: (copy: ScriptedCopy<R>) => ScriptedOutcome<O>,
): ScriptedFunction<R, O> {
  const copies: ScriptedCopy<R>[] = [];
  const fn: AttemptFunction<R, O> = async (replica, attempt) => {
    const copy = {
      replica,
      endpoint: attempt.endpoint.name,
      kind: attempt.kind,
      number: attempt.number,
      sentAtMs: time.nowMs(),
      cancelledAtMs: undefined as number | undefined,
      cancelReason: undefined as unknown,
    };
    copies.push(copy);
    const stop = new AbortController();
    attempt.onCancel((reason) => {
      copy.cancelledAtMs = time.nowMs();
      copy.cancelReason = reason;
      stop.abort(reason);
    });
    const outcome = script(copy);
    await time.sleep(outcome.afterMs ?? 0, stop.signal);
    if (outcome.error !== undefined) throw outcome.error;
    return outcome.answer as O;
  };
  return { fn, copies };
}
