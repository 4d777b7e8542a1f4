import type { Attempt } from "./attempt.ts";
import { launchesOf, type WatchedPolicy } from "./fake-policy.testbed.ts";

/** What a test remembers of one call, from what it saw at the port alone. */
export interface CallRecord {
  readonly number: number;
  lastLaunchMs: number;
  /** When a copy last came to nothing: the next one may follow at once. */
  lastLossMs: number;
  quietUntilMs: number;
  committed: boolean;
  settled: boolean;
}

/** The names of the rules that this launch breaks. */
export function brokenAtLaunch(
  a: Attempt,
  policy: WatchedPolicy,
  nowMs: number,
  record: CallRecord,
): string[] {
  const c = a.call;
  const before = launchesOf(c).filter((b) => b !== a);
  const placed = before.filter((b) => b.outcome !== "ignored" && !b.unsent);
  const failed = before.filter((b) => b.outcome === "failed");
  const allowed: Record<string, boolean> = {
    "nothing is sent after settle": !record.settled,
    "nothing is sent after commit": !record.committed,
    "nothing is sent after the deadline": nowMs < c.deadlineMs,
    "pushback is obeyed": nowMs >= record.quietUntilMs,
    "a write is never sent twice": c.idempotent || placed.length === 0,
  };
  if (a.kind !== "primary") {
    const same = placed.filter((b) => b.kind === a.kind).length;
    const max = a.kind === "hedge" ? policy.hedger.max : policy.maxRetries;
    allowed["no more copies than configured"] = same < max;
    allowed["a body that cannot be replayed is sent once"] = c.replayable;
    allowed["no copies below a level that hedges"] = !c.upperLevel || failed.some((b) => b.unsent);
  }
  if (a.kind === "retry") allowed["a retry follows a failure"] = failed.length > 0;
  if (a.kind === "hedge") {
    const tried = before.some((b) => b.endpoint === a.endpoint);
    allowed["a hedge goes to an untried endpoint"] = a.endpoint.virtual || !tried;
    allowed["no hedge when too little time is left"] = c.deadlineMs - nowMs >= c.cls.medianMs;
    // After a failure it may follow at once, or when the server's quiet time is over.
    const early = record.lastLossMs === nowMs || record.quietUntilMs > record.lastLaunchMs;
    allowed["the hedge timer counts from the last launch"] =
      early || nowMs >= record.lastLaunchMs + c.cls.delayMs;
  }
  return Object.keys(allowed).filter((rule) => allowed[rule] === false);
}
