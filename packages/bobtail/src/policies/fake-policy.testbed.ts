import { type Attempt, type AttemptKind, type AttemptOutcome, isTried } from "./attempt.ts";
import type { Balancer } from "./balancer.ts";
import type { Budget } from "./budget.ts";
import type { Call } from "./call.ts";
import { Endpoint } from "./endpoint.ts";
import type { Hedger, LatencyClass } from "./hedger.ts";
import type { CallPolicy } from "./port.ts";

/** The least outstanding one that the contract allows, the earlier in the list among equals. */
class FakeBalancer implements Balancer {
  endpoints: readonly Endpoint[];
  perEndpoint: number;
  pickCount: number;
  readonly observed: { endpoint: Endpoint; latencyMs: number; outcome: AttemptOutcome }[];

  constructor(endpoints: readonly Endpoint[], perEndpoint: number) {
    this.endpoints = endpoints;
    this.perEndpoint = perEndpoint;
    this.pickCount = 0;
    this.observed = [];
  }

  pick(call: Call, kind: AttemptKind): Endpoint | undefined {
    this.pickCount++;
    const fresh = this.least((e) => e.virtual || !isTried(call.last, e));
    return fresh ?? (kind === "retry" ? this.least(() => true) : undefined);
  }

  observe(endpoint: Endpoint, latencyMs: number, outcome: AttemptOutcome): void {
    this.observed.push({ endpoint, latencyMs, outcome });
  }

  update(endpoints: readonly Endpoint[]): void {
    this.endpoints = endpoints;
  }

  private least(allowed: (e: Endpoint) => boolean): Endpoint | undefined {
    let best: Endpoint | undefined;
    for (const e of this.endpoints) {
      if (e.outstanding >= this.perEndpoint || !allowed(e)) continue;
      if (best === undefined || e.outstanding < best.outstanding) best = e;
    }
    return best;
  }
}

/** A bucket counted in hundredths of an extra attempt, so that its arithmetic is exact. */
class FakeBudget implements Budget {
  readonly capacityCount: number;
  readonly depositHundredths: number;
  hundredths: number;
  granted: number;
  refused: number;
  refunded: number;
  deposits: number;
  failures: number;

  constructor(burstCount: number, depositHundredths: number) {
    this.capacityCount = burstCount;
    this.depositHundredths = depositHundredths;
    this.hundredths = burstCount * 100;
    this.granted = 0;
    this.refused = 0;
    this.refunded = 0;
    this.deposits = 0;
    this.failures = 0;
  }

  deposit(): void {
    this.deposits++;
    this.hundredths = Math.min(this.capacityCount * 100, this.hundredths + this.depositHundredths);
  }

  failure(): void {
    this.failures++;
  }

  tryWithdraw(): boolean {
    if (this.hundredths < 100) {
      this.refused++;
      return false;
    }
    this.hundredths -= 100;
    this.granted++;
    return true;
  }

  refund(): void {
    this.refunded++;
    this.hundredths = Math.min(this.capacityCount * 100, this.hundredths + 100);
  }

  balanceAt(): number {
    return Math.floor(this.hundredths / 100);
  }
}

/** One class, whose delay and median the test sets. */
export class FakeHedger implements Hedger {
  max: number;
  readonly cls: LatencyClass;
  readonly recorded: { latencyMs: number; censored: boolean }[];

  constructor(max: number, delayMs: number, medianMs: number) {
    this.max = max;
    this.cls = { key: "", delayMs, medianMs };
    this.recorded = [];
  }

  classOf(): LatencyClass {
    return this.cls;
  }

  delayMs(cls: LatencyClass): number {
    return cls.delayMs;
  }

  woken(): void {}

  record(_cls: LatencyClass, latencyMs: number, censored: boolean): void {
    this.recorded.push({ latencyMs, censored });
  }
}

/** The decisions of a service, with the counts that a test needs to check them. */
export interface WatchedPolicy {
  readonly balancer: Pick<Balancer, "endpoints">;
  readonly budget: Pick<FakeBudget, BudgetCounts>;
  readonly hedger: Pick<FakeHedger, "max" | "cls" | "recorded">;
  readonly perEndpoint: number;
  readonly maxRetries: number;
  readonly attemptTimeoutMs: number;
  readonly maxOutstanding: number;
  readonly maxPending: number;
  setEndpoints(endpoints: readonly Endpoint[], nowMs: number): void;
}

type BudgetCounts = "capacityCount" | "depositHundredths" | "granted" | "refunded" | "failures";

export interface FakePolicy extends CallPolicy, WatchedPolicy {
  readonly balancer: FakeBalancer;
  readonly budget: FakeBudget;
  readonly hedger: FakeHedger;
}

export interface FakePolicyOptions {
  /** One letter an endpoint, its name; an upper-case one is virtual. Default "abc". */
  readonly endpoints?: string;
  readonly perEndpoint?: number;
  readonly burstCount?: number;
  readonly depositHundredths?: number;
  readonly maxHedges?: number;
  readonly delayMs?: number;
  readonly medianMs?: number;
  readonly maxRetries?: number;
  readonly attemptTimeoutMs?: number;
  readonly maxOutstanding?: number;
  readonly maxPending?: number;
}

export function fakePolicy(options: FakePolicyOptions): FakePolicy {
  const endpoints = [...(options.endpoints ?? "abc")].map(
    (name) => new Endpoint({ name, virtual: name !== name.toLowerCase() }),
  );
  const perEndpoint = options.perEndpoint ?? 100;
  const balancer = new FakeBalancer(endpoints, perEndpoint);
  return {
    balancer,
    perEndpoint,
    budget: new FakeBudget(options.burstCount ?? 10, options.depositHundredths ?? 10),
    hedger: new FakeHedger(options.maxHedges ?? 1, options.delayMs ?? 10, options.medianMs ?? 0),
    maxRetries: options.maxRetries ?? 1,
    attemptTimeoutMs: options.attemptTimeoutMs ?? Number.POSITIVE_INFINITY,
    maxOutstanding: options.maxOutstanding ?? 100,
    maxPending: options.maxPending ?? 10,
    setEndpoints: (next) => balancer.update(next),
  };
}

/** Every attempt of a call, the first one first. */
export function launchesOf(call: Call): Attempt[] {
  const attempts: Attempt[] = [];
  for (let a = call.last; a !== undefined; a = a.previous) attempts.unshift(a);
  return attempts;
}
