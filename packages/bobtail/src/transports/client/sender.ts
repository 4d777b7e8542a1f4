import type { AttemptKind } from "../../policies/attempt.ts";
import type { Endpoint } from "../../policies/endpoint.ts";

/** One copy of a call, as the code that performs it sees it. */
export interface LiveAttempt {
  readonly endpoint: Endpoint;
  readonly kind: AttemptKind;
  /** 1 for the primary. */
  readonly number: number;
  /** What is left of the call's deadline, in ms, at the moment of reading; never negative. */
  readonly remainingMs: number;
  /**
   * Aborted when this copy is no longer wanted: the caller's own reason, `ERR_BOBTAIL_SUPERSEDED`,
   * an attempt timeout or the deadline. Made when first read (2-3 us); `onCancel` is cheaper.
   */
  readonly signal: AbortSignal;
  /** Called at most once, with the reason, when this copy is no longer wanted; at once if it already is not. */
  onCancel(listener: (reason: unknown) => void): void;
}

/** What the code that performs a copy reports. Late, repeated and unwanted reports are ignored. */
export interface AttemptReports<T> {
  /** The answer has begun. True: it is the caller's, who has it now. False: nobody wants it, and `release` has had it. */
  committed(answer: T): boolean;
  /** The committed answer's body is complete, or its reader has gone away content. */
  finished(): void;
  /** The committed answer's body broke. */
  broke(cause: unknown): void;
  /** The whole answer at once: `committed` and `finished`. The result as for `committed`. */
  replied(answer: T): boolean;
  /**
   * Another replica may do better. With `answer` (an HTTP 503, say), the caller gets the last such
   * answer if every copy fails; until then it is held, and released when it is not needed.
   */
  failed(cause: unknown, how?: FailureDetails<T>): void;
  /** Any replica would say the same. */
  fatal(cause: unknown): void;
  /** It could not be placed (a full pool): try elsewhere, no one's fault. */
  ignored(cause: unknown): void;
}

export interface FailureDetails<T> {
  readonly answer?: T;
  /** The server asked for quiet: no copy before that many ms; negative: none at all. */
  readonly pushbackMs?: number;
  /** No byte of the request reached the server. */
  readonly unsent?: boolean;
}

/** Performs the copies of one call. */
export interface Sender<T> {
  /** May report before it returns. A throw counts as `failed`. */
  send(attempt: LiveAttempt, reports: AttemptReports<T>): void;
  /**
   * An answer that nobody will use, whether it came late or was held in vain: give back what it holds.
   * Called by the driver, exactly once for each such answer, and never for one that the caller was given.
   */
  release?(answer: T): void;
}

/** What is known of a call before it starts. */
export interface CallOptions {
  /** The caller's own; its reason is what the call rejects with. One listener, removed when the call is over. */
  readonly signal?: AbortSignal | null | undefined;
  /** In ms from now; above 0; only ever shortens the service's own and an inherited one. */
  readonly deadlineMs?: number | undefined;
  /** Safe to run twice. Default false; for HTTP by method (GET, HEAD, OPTIONS) or by an `idempotency-key` header. */
  readonly idempotent?: boolean | undefined;
  /** Calls of the same key share a latency history and a hedge delay; at most 32 keys a service. */
  readonly key?: string | undefined;
  /** Expected work, above 0, in the unit of your choice; default 1. Used by `load: "work"`. */
  readonly cost?: number | undefined;
}
