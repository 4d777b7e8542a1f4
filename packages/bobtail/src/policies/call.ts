import { assert } from "../core/assert.ts";
import type { Attempt, AttemptKind } from "./attempt.ts";
import type { LatencyClass } from "./hedger.ts";
import type { SkipReason } from "./stats.ts";

/**
 * `pending`: waits for a free endpoint. `committed`: the user has an answer whose body is still on
 * the way. `ending`: its attempts are being cancelled; nothing they report counts any more.
 */
export type CallState = "new" | "pending" | "running" | "committed" | "ending" | "settled";

/** Why a call settled without a whole reply. */
export type CallFailure =
  | "all-failed"
  | "fatal"
  | "deadline"
  | "aborted"
  | "shed"
  | "no-endpoint"
  | "body";

/**
 * One logical request of the user. One shape, never subclassed; the driver fills the request's
 * properties before `start` and may use `host` as it likes.
 */
export class Call {
  cls: LatencyClass;
  /** Safe to run twice: by method, by an explicit option, or by an idempotency key. Default false. */
  idempotent: boolean;
  /** The request's body can be sent again. Default true. */
  replayable: boolean;
  /** An upper level hedges already: this one must not add copies. Default false. */
  upperLevel: boolean;
  /** Expected work, in any unit above 0; default 1. */
  cost: number;
  /** Absolute; `start` fails at once when it has passed. Default Infinity. */
  deadlineMs: number;

  state: CallState;
  startMs: number;
  /** Attempts that have not ended / were ever launched, and of those the hedges and retries. */
  running: number;
  launched: number;
  hedges: number;
  retries: number;
  /** When the next copy is due, and as what; Infinity: none. */
  nextAtMs: number;
  nextKind: AttemptKind;
  /** A server asked for quiet until then: no copy before it. */
  notBeforeMs: number;
  last: Attempt | undefined;
  winner: Attempt | undefined;
  failure: CallFailure | undefined;
  /** Why the last copy that was wanted was not sent. */
  skip: SkipReason | undefined;
  pendingPrevious: Call | undefined;
  pendingNext: Call | undefined;
  /** The attempt of the call that this one was before it was renewed. */
  spare: Attempt | undefined;
  host: unknown;

  constructor(cls: LatencyClass, host: unknown) {
    this.cls = cls;
    this.idempotent = false;
    this.replayable = true;
    this.upperLevel = false;
    this.cost = 1;
    this.deadlineMs = Number.POSITIVE_INFINITY;
    this.state = "new";
    this.startMs = 0;
    this.running = 0;
    this.launched = 0;
    this.hedges = 0;
    this.retries = 0;
    this.nextAtMs = Number.POSITIVE_INFINITY;
    this.nextKind = "hedge";
    this.notBeforeMs = 0;
    this.last = undefined;
    this.winner = undefined;
    this.failure = undefined;
    this.skip = undefined;
    this.pendingPrevious = undefined;
    this.pendingNext = undefined;
    this.spare = undefined;
    this.host = host;
  }

  /**
   * The same objects for another request: a simulation of millions makes little garbage.
   * Only for a call that has settled after a single copy, which nobody will report on or ask about any more.
   */
  renew(cls: LatencyClass): void {
    assert(
      this.state === "settled" && this.launched === 1,
      "a call is renewed after its only copy",
    );
    this.cls = cls;
    this.state = "new";
    this.launched = 0;
    this.nextKind = "hedge";
    this.notBeforeMs = 0;
    this.spare = this.last;
    this.last = undefined;
    this.winner = undefined;
    this.failure = undefined;
    this.skip = undefined;
  }
}

/** Started and not over. Read through a call, since the compiler cannot see that the port changes the state. */
export function isOpen(c: Call): boolean {
  return c.state === "running" || c.state === "committed" || c.state === "pending";
}

/** The attempts of a call in the order of their launch. */
export function attemptsOf(call: Call): Attempt[] {
  const attempts: Attempt[] = [];
  for (let a = call.last; a !== undefined; a = a.previous) attempts.push(a);
  return attempts.reverse();
}
