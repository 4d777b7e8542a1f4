import type { Fleet } from "../fleet/fleet.ts";
import { calibrate } from "./calibrate.ts";
import { checkDemoOptions, type DemoOptions, type DemoPlan } from "./demo-options.ts";
import { type DemoPhase, type DemoReport, summarise } from "./demo-report.ts";
import { type PhaseOutcome, type PhaseTiming, runPhase } from "./phase.ts";
import { type Contender, contenders } from "./stage.ts";

/** Queues fill and the hedger learns in this time. Both phases have it, and neither counts it. */
const WARMUP_MS = 3_000;
/** On a slow machine the queue limit is longer, by which round robin's queue is full. */
const WARMUP_MS_PER_FACTOR = 1_500;
/** Above it the machine stood still while it measured, and a tail of some 60 ms cannot be told from that. */
const MAX_LAG_P999_MS = 20;
const TRIES = 2;

/**
 * The same requests twice through a proxy to ten servers of which one is five times slower: in turn, as
 * most balancers do by default, then by Bobtail's policy. Real sockets, honest load, one table.
 *
 * Rejects with `ERR_BOBTAIL_OPTION` for an option out of range. Every process it starts has ended when it settles.
 */
export async function runDemo(options: DemoOptions = {}): Promise<DemoReport> {
  const plan = checkDemoOptions(options);
  const { baseline, bobtail } = contenders(plan);
  const { fleet, plan: stretched, factor, isFastEnough } = await calibrate(plan, bobtail);
  const phases: DemoPhase[] = [];
  let isDisturbed = false;
  try {
    for (const contender of [baseline, bobtail]) {
      if (plan.signal.aborted) break;
      const outcome = await undisturbed(contender, fleet, stretched, {
        label: contender.label,
        warmupMs: Math.max(WARMUP_MS, WARMUP_MS_PER_FACTOR * factor),
        durationMs: plan.seconds * 1_000,
        factor,
      });
      // Stopped in its warm-up: there is nothing to show of it.
      if (outcome.load.measured.ledger.sent === 0) break;
      phases.push(summarise(outcome, factor));
      isDisturbed ||= sendLagMs(outcome) > MAX_LAG_P999_MS * factor;
    }
  } finally {
    await fleet.stop();
  }
  const { ratePerSec, stalls, hedge, signal } = plan;
  return {
    phases,
    factor,
    isTooSlow: !signal.aborted && (!isFastEnough || isDisturbed),
    ratePerSec,
    stalls,
    hedge,
    partial: signal.aborted,
  };
}

/**
 * A phase in which this machine kept its own time. It is run again where requests left late, whatever it
 * showed: that is the generator's fault, and says nothing of the contender. The better kept one counts.
 */
async function undisturbed(
  contender: Contender,
  fleet: Fleet,
  plan: DemoPlan,
  timing: PhaseTiming,
): Promise<PhaseOutcome> {
  let best: PhaseOutcome | undefined;
  const tries = plan.factor === undefined ? TRIES : 1;
  for (let i = 0; i < tries; i++) {
    const outcome = await runPhase(contender, fleet, plan, timing);
    const isBetter = best === undefined || sendLagMs(outcome) < sendLagMs(best);
    if (best === undefined || (isBetter && !plan.signal.aborted)) best = outcome;
    if (plan.signal.aborted || sendLagMs(best) <= MAX_LAG_P999_MS * timing.factor) break;
  }
  if (best === undefined) throw new Error("no phase was run");
  return best;
}

function sendLagMs(outcome: PhaseOutcome): number {
  return outcome.load.measured.sendLag.quantile(0.999) / 1_000;
}
