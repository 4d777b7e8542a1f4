import type { Attempt } from "./attempt.ts";
import { Call, isOpen } from "./call.ts";
import type { CallMachine } from "./call-machine.ts";
import { Endpoint } from "./endpoint.ts";
import { launchesOf, type WatchedPolicy } from "./fake-policy.testbed.ts";
import { brokenAtLaunch, type CallRecord } from "./launch-rules.testbed.ts";
import type { CallObserver } from "./observer.ts";
import type { CallPolicy, Port } from "./port.ts";

export type MachineFactory = (
  policy: CallPolicy,
  port: Port,
  observer: CallObserver,
) => CallMachine;

interface AttemptRecord {
  ended: boolean;
  cancelled: boolean;
}

/**
 * A port that believes nothing: it keeps its own account of what a correct machine may do, and
 * notes every breach by name. Reactions are the test's: `react` runs inside send, cancel and settle.
 */
export class CallWorld implements Port, CallObserver {
  nowMs: number;
  readonly policy: WatchedPolicy;
  readonly machine: CallMachine;
  readonly calls: Call[];
  readonly attempts: Attempt[];
  readonly wakes: Map<Call, number>;
  readonly breaches: Set<string>;
  react: (where: "send" | "cancel" | "settle", subject: Attempt | Call) => void;
  private runningCount: number;
  private readonly runningAt: Map<Endpoint, number>;
  private readonly callRecords: Map<Call, CallRecord>;
  private readonly attemptRecords: Map<Attempt, AttemptRecord>;

  constructor(
    policy: WatchedPolicy,
    createMachine: (port: Port, observer: CallObserver) => CallMachine,
  ) {
    this.nowMs = 0;
    this.policy = policy;
    this.calls = [];
    this.attempts = [];
    this.wakes = new Map();
    this.breaches = new Set();
    this.react = () => {};
    this.runningCount = 0;
    this.runningAt = new Map();
    this.callRecords = new Map();
    this.attemptRecords = new Map();
    this.machine = createMachine(this, this);
  }

  start(fill: (c: Call) => void): void {
    const c = new Call(this.policy.hedger.cls, undefined);
    fill(c);
    const never = Number.NEGATIVE_INFINITY;
    this.callRecords.set(c, {
      number: this.calls.push(c),
      lastLaunchMs: never,
      lastLossMs: never,
      quietUntilMs: never,
      committed: false,
      settled: false,
    });
    this.machine.start(c, this.nowMs);
  }

  fail(a: Attempt, pushbackMs: number, unsent: boolean): void {
    if (a.running && a.call.state === "running") {
      a.unsent = unsent;
      const record = this.recordOf(a.call);
      if (pushbackMs > 0)
        record.quietUntilMs = Math.max(record.quietUntilMs, this.nowMs + pushbackMs);
      else if (pushbackMs !== 0) record.quietUntilMs = Number.POSITIVE_INFINITY;
    }
    this.machine.failed(a, this.nowMs, `cause ${a.number}`, pushbackMs);
  }

  fireDue(): void {
    const due = [...this.wakes].filter(([, atMs]) => atMs <= this.nowMs);
    for (const [c, atMs] of due) {
      if (this.wakes.get(c) !== atMs) continue;
      this.wakes.delete(c);
      this.machine.woke(c, this.nowMs);
    }
  }

  send(a: Attempt): void {
    const c = a.call;
    this.expect(!this.attemptRecords.has(a), "an attempt is sent once");
    this.expect(a.running && c.last === a, "recorded before it is sent");
    this.attempts.push(a);
    this.attemptRecords.set(a, { ended: false, cancelled: false });
    const here = (this.runningAt.get(a.endpoint) ?? 0) + 1;
    this.runningAt.set(a.endpoint, here);
    this.runningCount++;
    this.expect(a.endpoint.outstanding === here, "recorded before it is sent");
    this.expect(here <= this.policy.perEndpoint, "no endpoint is over its limit");
    this.expect(
      this.runningCount <= this.policy.maxOutstanding,
      "the service is never over its limit",
    );
    this.expect(this.policy.balancer.endpoints.includes(a.endpoint), "endpoints come from the set");
    const overtaken = (d: Call) =>
      d.state === "pending" && this.recordOf(d).number < this.recordOf(c).number;
    this.expect(
      a.previous !== undefined || !this.calls.some(overtaken),
      "first come, first served",
    );
    for (const rule of brokenAtLaunch(a, this.policy, this.nowMs, this.recordOf(c)))
      this.breaches.add(rule);
    this.recordOf(c).lastLaunchMs = this.nowMs;
    this.react("send", a);
  }

  cancel(a: Attempt): void {
    const record = this.attemptRecords.get(a);
    this.expect(record !== undefined, "only what was sent is cancelled");
    this.expect(!this.recordOf(a.call).settled, "losers are cancelled before the call settles");
    this.expect(!a.running && record?.ended === true, "state is set before cancel");
    this.expect(record?.cancelled === false, "an attempt is cancelled once");
    if (record !== undefined) record.cancelled = true;
    this.react("cancel", a);
  }

  wakeAt(c: Call, atMs: number): void {
    this.expect(!this.recordOf(c).settled, "no wake after settle");
    this.expect(!Number.isNaN(atMs), "a wake has a time");
    if (atMs === Number.POSITIVE_INFINITY) this.wakes.delete(c);
    else this.wakes.set(c, atMs);
  }

  settle(c: Call): void {
    const record = this.recordOf(c);
    this.expect(!record.settled, "a call settles once");
    record.settled = true;
    this.wakes.delete(c);
    const launches = launchesOf(c);
    this.expect(
      c.running === 0 && launches.every((a) => this.hasEnded(a)),
      "nothing runs at settle",
    );
    this.expect(
      launches.every((a) => this.attemptRecords.get(a)?.cancelled === endsByCancel(a)),
      "losers are cancelled before the call settles",
    );
    const wins = launches.filter((a) => a.outcome === "win").length;
    this.expect(wins === (c.failure === undefined ? 1 : 0), "one attempt wins a successful call");
    this.react("settle", c);
  }

  committed(a: Attempt): void {
    const record = this.recordOf(a.call);
    this.expect(!record.committed, "a call commits once");
    record.committed = true;
  }

  ended(a: Attempt): void {
    const record = this.attemptRecords.get(a);
    this.expect(record !== undefined, "only what was sent ends");
    this.expect(record?.ended === false, "an attempt ends once");
    if (record !== undefined) record.ended = true;
    this.runningAt.set(a.endpoint, (this.runningAt.get(a.endpoint) ?? 0) - 1);
    this.runningCount--;
    if (a.outcome === "failed" || a.outcome === "ignored")
      this.recordOf(a.call).lastLossMs = this.nowMs;
  }

  /** Between two events: every open call can still make progress, and nothing waits for a free place in vain. */
  checkBetween(): void {
    let pendingCount = 0;
    for (const c of this.calls) {
      if (!isOpen(c)) continue;
      const wakeMs = this.wakes.get(c) ?? Number.POSITIVE_INFINITY;
      this.expect(wakeMs <= c.deadlineMs, "the deadline holds for every open call");
      if (c.state === "pending") pendingCount++;
      if (c.state !== "running") continue;
      this.expect(wakeMs <= c.nextAtMs, "a copy that is due has a wake");
      this.expect(c.running > 0 || c.nextAtMs < Number.POSITIVE_INFINITY, "no call is forgotten");
      for (let a = c.last; a !== undefined; a = a.previous) {
        const timeoutMs = a.startMs + this.policy.attemptTimeoutMs;
        this.expect(!a.running || wakeMs <= timeoutMs, "an attempt timeout has a wake");
      }
    }
    this.expect(this.machine.stats.pending === pendingCount, "pending calls are counted");
    this.expect(pendingCount <= this.policy.maxPending, "the pending queue is bounded");
    if (pendingCount > 0) this.expect(!this.hasPlace(), "a free place admits a pending call");
  }

  /** After everything: every count is zero, every sum adds up. */
  checkEnd(): void {
    const { stats } = this.machine;
    const { budget, hedger } = this.policy;
    this.expect(
      this.calls.every((c) => this.recordOf(c).settled && c.state === "settled"),
      "every call settles",
    );
    this.expect(
      this.attempts.every((a) => this.hasEnded(a) && !a.running),
      "every attempt ends",
    );
    this.expect(this.wakes.size === 0, "no wake after settle");
    for (const { endpoint: e } of this.attempts) {
      const counts = [e.outstanding, e.work, e.waiting, e.waitingSinceSumMs];
      this.expect(
        counts.every((count) => count === 0),
        "every count of an endpoint returns to zero",
      );
    }
    this.expect(stats.running === 0 && stats.pending === 0, "every count of the service is zero");
    const over = stats.succeeded + stats.failed + stats.aborted;
    this.expect(stats.calls === this.calls.length && over === stats.calls, "stats add up");
    this.expect(stats.attempts === this.attempts.length, "stats add up");
    const extra = this.attempts.filter(
      (a) => a.kind !== "primary" && a.outcome !== "ignored" && !a.unsent,
    );
    this.expect(budget.granted - budget.refunded === extra.length, "every permit is a copy");
    const bound = budget.capacityCount * 100 + budget.depositHundredths * stats.succeeded;
    this.expect(extra.length * 100 <= bound, "extra attempts stay within the budget");
    const failed = this.attempts.filter((a) => a.outcome === "failed" && !a.unsent).length;
    this.expect(budget.failures === failed, "only failures count as failures");
    const asked = hedger.max > 0 || this.policy.maxRetries > 0;
    const taught = this.attempts.filter((a) => a.kind === "primary" && teaches(a)).length;
    this.expect(
      hedger.recorded.length === (asked ? taught : 0),
      "each primary teaches the hedger once",
    );
    this.checkNothingLeaked();
  }

  /** The whole limit can be used again, so no hidden count has leaked. */
  private checkNothingLeaked(): void {
    this.react = () => {};
    const { maxOutstanding } = this.policy;
    this.policy.setEndpoints(
      Array.from({ length: maxOutstanding }, (_, i) => new Endpoint({ name: `probe ${i}` })),
      this.nowMs,
    );
    const before = this.attempts.length;
    const probes = this.calls.length;
    for (let i = 0; i < maxOutstanding; i++) this.start(() => {});
    const sent = this.attempts.length - before;
    this.expect(sent === maxOutstanding, "every count of the service is zero");
    for (const c of this.calls.slice(probes)) this.machine.aborted(c, this.nowMs);
  }

  private hasPlace(): boolean {
    const { balancer, maxOutstanding, perEndpoint } = this.policy;
    const free = balancer.endpoints.some((e) => e.outstanding < perEndpoint);
    return free && this.runningCount < maxOutstanding;
  }

  private hasEnded(a: Attempt): boolean {
    return this.attemptRecords.get(a)?.ended === true;
  }

  private recordOf(c: Call): CallRecord {
    const record = this.callRecords.get(c);
    if (record === undefined) throw new Error("a call that this world did not start");
    return record;
  }

  private expect(ok: boolean, rule: string): void {
    if (!ok) this.breaches.add(rule);
  }
}

/** How the port learns of its end: by `cancel`, or because it reported that end itself. */
function endsByCancel(a: Attempt): boolean {
  return a.outcome === "superseded" || a.outcome === "cancelled" || a.timedOut;
}

/** An answer, or having waited in vain, says how long answers take. */
function teaches(a: Attempt): boolean {
  return a.call.winner === a || endsByCancel(a);
}
