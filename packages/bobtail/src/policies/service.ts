import { checkOption } from "../core/errors.ts";
import type { Rng } from "../core/rng.ts";
import type { Balancer } from "./balancer.ts";
import type { Budget } from "./budget.ts";
import { CallMachine } from "./call-machine.ts";
import { createBalancer } from "./create-balancer.ts";
import { createHedger } from "./create-hedger.ts";
import { Endpoint, type EndpointOptions } from "./endpoint.ts";
import type { Hedger } from "./hedger.ts";
import type { CallObserver } from "./observer.ts";
import type { ServiceOptions } from "./options.ts";
import type { Port } from "./port.ts";
import { createTokenBudget } from "./token-budget.ts";

const DEFAULT_DEADLINE_MS = 30_000;

/** One service as it runs: its endpoints, the decisions it was configured with, and the machine that takes them. */
export interface Service {
  readonly options: ServiceOptions;
  readonly balancer: Balancer;
  readonly budget: Budget;
  readonly hedger: Hedger;
  readonly machine: CallMachine;
  readonly deadlineMs: number;
  /**
   * Endpoints of the same name keep their counts and what was learnt; weight and `virtual` are taken from the new list.
   *
   * @param beforeSends - the new set is in force, and no call that waited for an endpoint has been sent yet.
   */
  setEndpoints(
    endpoints: readonly EndpointOptions[],
    nowMs: number,
    beforeSends?: () => void,
  ): void;
}

export interface ServiceSetup {
  readonly options: ServiceOptions;
  readonly endpoints: readonly EndpointOptions[];
  readonly port: Port;
  readonly rng: Rng;
  readonly nowMs: number;
  readonly observer?: CallObserver | undefined;
  /** Endpoints of the service that this one replaces: those that stay are the same objects. */
  readonly inherit?: readonly Endpoint[] | undefined;
}

/** Builds a service from plain options. Throws `ERR_BOBTAIL_OPTION` for the first one out of range. */
export function createService(setup: ServiceSetup): Service {
  const { options, rng, nowMs } = setup;
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  checkOption(
    { deadlineMs },
    "milliseconds above 0",
    deadlineMs > 0 && deadlineMs < Number.POSITIVE_INFINITY,
  );
  const timeout = checkTimeouts(options);
  const limit = checkLimits(options);
  const maxRetries = options.retry?.max ?? 1;
  checkOption({ "retry.max": maxRetries }, "a whole number in [0, 8]", isCount(maxRetries, 0, 8));

  const budget = createTokenBudget(options.budget ?? {}, nowMs);
  const hedger = createHedger(options.hedge, options.budget?.extraRatio);
  checkHedge(options, deadlineMs);
  const balancer = createBalancer({ ...options.balance, perEndpoint: limit.perEndpoint }, rng);
  balancer.update(mergeEndpoints(setup.inherit ?? [], setup.endpoints), nowMs);
  const machine = new CallMachine(
    {
      balancer,
      budget,
      hedger,
      maxRetries,
      attemptTimeoutMs: timeout.attemptMs,
      maxOutstanding: limit.outstanding,
      maxPending: limit.pending,
    },
    setup.port,
    setup.observer,
  );
  return {
    options,
    balancer,
    budget,
    hedger,
    machine,
    deadlineMs,
    setEndpoints(endpoints, atMs, beforeSends) {
      balancer.update(mergeEndpoints(balancer.endpoints, endpoints), atMs);
      beforeSends?.();
      machine.admit(atMs);
    },
  };
}

function checkHedge(options: ServiceOptions, deadlineMs: number): void {
  const afterMs = options.hedge?.afterMs;
  if (typeof afterMs !== "number") return;
  checkOption(
    { "hedge.afterMs": afterMs },
    `less than the deadline of ${deadlineMs} ms`,
    afterMs < deadlineMs,
  );
}

function checkTimeouts(options: ServiceOptions): { attemptMs: number } {
  const { connectMs, attemptMs, bodyIdleMs, keepAliveMs } = options.timeout ?? {};
  for (const [name, value] of Object.entries({ connectMs, attemptMs, bodyIdleMs, keepAliveMs })) {
    checkOption(
      { [`timeout.${name}`]: value },
      "milliseconds above 0",
      value === undefined || value > 0,
    );
  }
  return { attemptMs: attemptMs ?? Number.POSITIVE_INFINITY };
}

function checkLimits(options: ServiceOptions): {
  outstanding: number;
  perEndpoint: number;
  pending: number;
} {
  const {
    outstanding = 1024,
    perEndpoint = 128,
    pending = 256,
    replayBodyBytes = 65_536,
  } = options.limit ?? {};
  checkOption({ "limit.outstanding": outstanding }, "a whole number >= 1", isCount(outstanding, 1));
  checkOption({ "limit.perEndpoint": perEndpoint }, "a whole number >= 1", isCount(perEndpoint, 1));
  checkOption({ "limit.pending": pending }, "a whole number >= 0", isCount(pending, 0));
  checkOption(
    { "limit.replayBodyBytes": replayBodyBytes },
    "bytes >= 0",
    isCount(replayBodyBytes, 0),
  );
  return { outstanding, perEndpoint, pending };
}

function isCount(value: number, min: number, max: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/** Everything is checked before anything is changed: a list that is refused leaves the old one as it was. */
function mergeEndpoints(
  known: readonly Endpoint[],
  wanted: readonly EndpointOptions[],
): Endpoint[] {
  for (const { name, weight = 1 } of wanted) {
    checkOption({ "endpoint.name": name }, "a name", name !== "");
    const ok = weight > 0 && weight < Number.POSITIVE_INFINITY;
    checkOption({ "endpoint.weight": weight }, "a number above 0", ok);
  }
  const names = wanted.map((options) => options.name);
  checkOption({ endpoints: names }, "distinct endpoints", new Set(names).size === names.length);
  const byName = new Map(known.map((e) => [e.name, e]));
  return wanted.map((options) => {
    const survivor = byName.get(options.name);
    if (survivor === undefined) return new Endpoint(options);
    survivor.weight = options.weight ?? 1;
    survivor.virtual = options.virtual ?? false;
    return survivor;
  });
}
