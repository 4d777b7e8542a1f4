import { seededRng } from "../core/rng.ts";
import type { Balancer } from "./balancer.ts";
import type { CallMachine } from "./call-machine.ts";
import { CallWorld } from "./call-world.testbed.ts";
import type { Endpoint, EndpointOptions } from "./endpoint.ts";
import { type FakePolicyOptions, fakePolicy, type WatchedPolicy } from "./fake-policy.testbed.ts";
import type { LatencyClass } from "./hedger.ts";
import type { CallObserver } from "./observer.ts";
import type { BalanceOptions, ServiceOptions } from "./options.ts";
import type { Port } from "./port.ts";
import { createService, type Service } from "./service.ts";

/** A world around a service as `createService` builds it, its budget and hedger counted from outside. */
export function serviceWorld(
  wanted: FakePolicyOptions,
  balance: BalanceOptions,
  seed: number,
): CallWorld {
  const watched = new WatchedService(wanted, balance, seed);
  return new CallWorld(watched, (port, observer) => watched.open(port, observer));
}

class WatchedService implements WatchedPolicy {
  readonly perEndpoint: number;
  readonly maxRetries: number;
  readonly attemptTimeoutMs: number;
  readonly maxOutstanding: number;
  readonly maxPending: number;
  readonly budget: WatchedPolicy["budget"];
  readonly hedger: {
    max: number;
    cls: LatencyClass;
    recorded: WatchedPolicy["hedger"]["recorded"];
  };
  balancer: Pick<Balancer, "endpoints">;
  private readonly options: ServiceOptions;
  private readonly seed: number;
  private service: Service | undefined;

  constructor(wanted: FakePolicyOptions, balance: BalanceOptions, seed: number) {
    // A service wants a finite delay, a burst and at least one hedge where hedging is on.
    const burstCount = Math.max(1, wanted.burstCount ?? 10);
    const fake = fakePolicy({ ...wanted, burstCount });
    const { max, cls } = fake.hedger;
    const hedged = max > 0 && cls.delayMs < Number.POSITIVE_INFINITY;
    this.perEndpoint = fake.perEndpoint;
    this.maxRetries = fake.maxRetries;
    this.attemptTimeoutMs = fake.attemptTimeoutMs;
    this.maxOutstanding = fake.maxOutstanding;
    this.maxPending = fake.maxPending;
    this.budget = fake.budget;
    this.hedger = { max: hedged ? max : 0, cls, recorded: [] };
    this.balancer = fake.balancer;
    this.options = {
      balance,
      hedge: hedged ? { afterMs: cls.delayMs, max } : undefined,
      budget: { burstCount, extraRatio: fake.budget.depositHundredths / 100 },
      retry: { max: fake.maxRetries },
      timeout: { attemptMs: fake.attemptTimeoutMs },
      limit: {
        outstanding: fake.maxOutstanding,
        perEndpoint: fake.perEndpoint,
        pending: fake.maxPending,
      },
    };
    this.seed = seed;
    this.service = undefined;
  }

  open(port: Port, observer: CallObserver): CallMachine {
    const service = createService({
      options: this.options,
      endpoints: this.balancer.endpoints.map(optionsOf),
      port,
      observer,
      rng: seededRng(this.seed),
      nowMs: 0,
    });
    this.service = service;
    this.balancer = service.balancer;
    this.hedger.cls = service.hedger.classOf("");
    this.count(service);
    return service.machine;
  }

  setEndpoints(endpoints: readonly Endpoint[], nowMs: number): void {
    this.service?.setEndpoints(endpoints.map(optionsOf), nowMs);
  }

  private count({ budget, hedger }: Service): void {
    const counts = this.budget;
    const tryWithdraw = budget.tryWithdraw.bind(budget);
    budget.tryWithdraw = (kind, nowMs) => {
      const granted = tryWithdraw(kind, nowMs);
      if (granted) counts.granted++;
      return granted;
    };
    const refund = budget.refund.bind(budget);
    budget.refund = () => {
      counts.refunded++;
      refund();
    };
    const failure = budget.failure.bind(budget);
    budget.failure = (nowMs) => {
      counts.failures++;
      failure(nowMs);
    };
    const record = hedger.record.bind(hedger);
    hedger.record = (cls, latencyMs, censored, nowMs) => {
      this.hedger.recorded.push({ latencyMs, censored });
      record(cls, latencyMs, censored, nowMs);
    };
  }
}

function optionsOf({ name, weight, virtual }: Endpoint): EndpointOptions {
  return { name, weight, virtual };
}
