import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { type DemoPlan, stretchPlan } from "./demo-options.ts";
import { runPhase } from "./phase.ts";
import type { Contender } from "./stage.ts";

/** Slower than by the last of these, and the machine cannot show anything. */
const FACTORS = [1, 2, 4, 8] as const;
export const SLOWEST_FACTOR = 8;
/** A neighbour's burst must not pass for a slow machine: each factor has as many tries. */
const TRIES = 2;
const WARMUP_MS = 1_000;
const DURATION_MS = 1_500;
/** A mean service time. Lag below it moves the percentiles of both phases, and not what they show. */
const MAX_LAG_MS = 10;
/** What a fleet may live beyond the two phases: calibration, warm-ups, and the drain of each. */
const SPARE_LIFETIME_MS = 600_000;

/** A fleet that this machine can keep up with. */
export interface Calibrated {
  readonly fleet: Fleet;
  /** Already stretched. */
  readonly plan: DemoPlan;
  readonly factor: number;
  /** p99 of the last try, divided by the factor: late sends or late replies, the worse of the two. */
  readonly lagMs: number;
  readonly isFastEnough: boolean;
}

/**
 * Sends a little of the real load and looks at what the machine itself adds: how late requests leave
 * and how late the fleet answers. While that is more than a mean service time, everything is made slower.
 */
export async function calibrate(plan: DemoPlan, contender: Contender): Promise<Calibrated> {
  if (plan.factor !== undefined) {
    const { plan: stretched, fleet } = await openFleet(plan, plan.factor);
    return { fleet, plan: stretched, factor: plan.factor, lagMs: 0, isFastEnough: true };
  }
  let last: Calibrated | undefined;
  for (const factor of FACTORS) {
    await last?.fleet.stop();
    last = await tryFactor(plan, contender, factor);
    if (last.isFastEnough || plan.signal.aborted) break;
  }
  if (last === undefined) throw new Error("no factor was tried");
  return last;
}

async function tryFactor(
  plan: DemoPlan,
  contender: Contender,
  factor: number,
): Promise<Calibrated> {
  const { plan: stretched, fleet } = await openFleet(plan, factor);
  const timing = { label: "Calibrating", warmupMs: WARMUP_MS, durationMs: DURATION_MS, factor };
  let lagMs = Number.POSITIVE_INFINITY;
  try {
    for (let i = 0; i < TRIES && lagMs > MAX_LAG_MS && !plan.signal.aborted; i++) {
      const { load, replyLagP99Ms } = await runPhase(contender, fleet, stretched, timing);
      const sendLagMs = load.measured.pacingLag.quantile(0.99) / 1_000;
      lagMs = Math.max(sendLagMs, replyLagP99Ms) / factor;
    }
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return { fleet, plan: stretched, factor, lagMs, isFastEnough: lagMs <= MAX_LAG_MS };
}

/** A fleet on which everything takes longer by a factor, and the plan that fits it. */
export async function openFleet(
  plan: DemoPlan,
  factor: number,
): Promise<{ plan: DemoPlan; fleet: Fleet }> {
  const stretched = stretchPlan(plan, factor);
  const { backends, queueLimitMs, seed } = stretched;
  const lifetimeMs = 2 * plan.seconds * 1_000 + SPARE_LIFETIME_MS;
  const fleet = await startFleet({ backends, queueLimitMs, seed, lifetimeMs });
  return { plan: stretched, fleet };
}
