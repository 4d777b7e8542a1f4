import { assertNever } from "../core/assert.ts";
import { checkOption } from "../core/errors.ts";
import type { Rng } from "../core/rng.ts";
import type { AttemptKind, AttemptOutcome } from "./attempt.ts";
import type { Balancer } from "./balancer.ts";
import type { Call } from "./call.ts";
import type { Chooser } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import { checkLeast, Least } from "./least.ts";
import { Load } from "./load.ts";
import type { BalanceOptions, BalancePolicy, LoadSignal } from "./options.ts";
import { Random } from "./random.ts";
import { RoundRobin } from "./round-robin.ts";
import { TwoChoices } from "./two-choices.ts";

const POLICIES: readonly BalancePolicy[] = ["round-robin", "random", "least", "two-choices"];
const SIGNALS: readonly LoadSignal[] = ["outstanding", "work", "peak-ewma"];

export interface BalancerOptions extends BalanceOptions {
  /** Most attempts at one endpoint at one time; a whole number >= 1. */
  readonly perEndpoint: number;
}

/** The balancer of one service, without endpoints yet. Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function createBalancer(options: BalancerOptions, rng: Rng): Balancer {
  const { policy = "two-choices", load: signal = "peak-ewma", choices = 2 } = options;
  const { errorPenalty = true, decayMs = 10_000, perEndpoint } = options;
  checkOption(
    { "balance.policy": policy },
    `one of ${POLICIES.join(", ")}`,
    POLICIES.includes(policy),
  );
  checkOption({ "balance.load": signal }, `one of ${SIGNALS.join(", ")}`, SIGNALS.includes(signal));
  checkOption(
    { "balance.choices": choices },
    "a whole number in [2, 8]",
    Number.isInteger(choices) && choices >= 2 && choices <= 8,
  );
  checkOption(
    { "balance.decayMs": decayMs },
    "milliseconds above 0",
    decayMs > 0 && decayMs < Number.POSITIVE_INFINITY,
  );
  const load = new Load({ signal, errorPenalty, decayMs });
  const draws = rng.split("balancer");
  switch (policy) {
    case "round-robin":
      return new PolicyBalancer(load, new RoundRobin(load, draws, { perEndpoint }));
    case "random":
      return new PolicyBalancer(load, new Random(load, draws, { perEndpoint }));
    case "least":
      return new PolicyBalancer(load, new Least(load, draws, { perEndpoint }), checkLeast);
    case "two-choices":
      return new PolicyBalancer(load, new TwoChoices(load, draws, { choices, perEndpoint }));
    default:
      return assertNever(policy);
  }
}

/** What all policies share: the set, what is learnt of it, and what a retry may do when all have been tried. */
class PolicyBalancer implements Balancer {
  endpoints: readonly Endpoint[];
  private readonly load: Load;
  private readonly chooser: Chooser;
  private readonly check: ((endpoints: readonly Endpoint[]) => void) | undefined;

  constructor(load: Load, chooser: Chooser, check?: (endpoints: readonly Endpoint[]) => void) {
    this.endpoints = [];
    this.load = load;
    this.chooser = chooser;
    this.check = check;
  }

  pick(call: Call, kind: AttemptKind, nowMs: number): Endpoint | undefined {
    const e = this.chooser.choose(call.last, call.cost, nowMs);
    return e === undefined && kind === "retry" ? this.pickTried(call, nowMs) : e;
  }

  private pickTried(call: Call, nowMs: number): Endpoint | undefined {
    if (call.last === undefined) return undefined;
    return this.chooser.choose(undefined, call.cost, nowMs);
  }

  observe(e: Endpoint, latencyMs: number, outcome: AttemptOutcome, nowMs: number): void {
    this.load.observe(e, latencyMs, outcome, nowMs);
  }

  update(endpoints: readonly Endpoint[], nowMs: number): void {
    this.check?.(endpoints);
    const next = [...endpoints];
    for (const e of this.endpoints) e.listed = false;
    for (const e of next) e.listed = true;
    this.load.update(next, nowMs);
    this.chooser.update(next);
    this.endpoints = next;
  }
}
