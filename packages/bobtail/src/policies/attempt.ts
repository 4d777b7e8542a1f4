import type { Call } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";

/** Why a copy was sent: the first one, a second for a slow one, or one more for a failed one. */
export type AttemptKind = "primary" | "hedge" | "retry";

/**
 * How one copy ended.
 * - `win`: its reply is the user's.
 * - `failed`: another replica may do better.
 * - `fatal`: any replica would say the same.
 * - `ignored`: it could not be placed; says nothing about the endpoint.
 * - `superseded`: cancelled because another copy won; its latency is a lower bound, never a failure.
 * - `cancelled`: the caller gave up, or the deadline came too soon to blame the endpoint; a lower bound too.
 */
export type AttemptOutcome = "win" | "failed" | "fatal" | "ignored" | "superseded" | "cancelled";

/** One copy of a call at one endpoint. One shape, never subclassed; `host` is the driver's only field. */
export class Attempt {
  readonly call: Call;
  endpoint: Endpoint;
  kind: AttemptKind;
  startMs: number;
  /** The attempt launched before this one: "tried already" is a walk along these. */
  readonly previous: Attempt | undefined;
  /** 1 for the primary. */
  readonly number: number;
  running: boolean;
  /** Time to the answer (its commit), else to its end; -1 while it waits. */
  latencyMs: number;
  outcome: AttemptOutcome | undefined;
  cause: unknown;
  /** Set by the driver before `failed`: no byte of the request reached the server, so even a write may be repeated. */
  unsent: boolean;
  /** It failed because it waited too long, which bounds its latency from below. */
  timedOut: boolean;
  host: unknown;

  constructor(call: Call, endpoint: Endpoint, kind: AttemptKind, startMs: number) {
    this.call = call;
    this.endpoint = endpoint;
    this.kind = kind;
    this.startMs = startMs;
    this.previous = call.last;
    this.number = call.launched + 1;
    this.running = true;
    this.latencyMs = -1;
    this.outcome = undefined;
    this.cause = undefined;
    this.unsent = false;
    this.timedOut = false;
    this.host = undefined;
  }
}

/** The next copy of a call. The first copy of a renewed call is the object that was the last call's, with its host. */
export function openAttempt(
  call: Call,
  endpoint: Endpoint,
  kind: AttemptKind,
  startMs: number,
): Attempt {
  const spare = call.spare;
  if (spare === undefined) return new Attempt(call, endpoint, kind, startMs);
  call.spare = undefined;
  spare.endpoint = endpoint;
  spare.kind = kind;
  spare.startMs = startMs;
  spare.running = true;
  spare.latencyMs = -1;
  spare.outcome = undefined;
  spare.cause = undefined;
  spare.unsent = false;
  spare.timedOut = false;
  return spare;
}

/** Whether this call already has, or had, a copy at that endpoint. */
export function isTried(last: Attempt | undefined, endpoint: Endpoint): boolean {
  for (let a = last; a !== undefined; a = a.previous) if (a.endpoint === endpoint) return true;
  return false;
}

/** An attempt that has ended, or whose call is being ended or was won by another, has nothing to say any more. */
export function isHeeded(a: Attempt): boolean {
  return (
    a.running && a.call.state !== "ending" && (a.call.winner === undefined || a.call.winner === a)
  );
}
