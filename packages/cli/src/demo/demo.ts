import { type Calibrated, calibrate, openFleet, SLOWEST_FACTOR } from "./calibrate.ts";
import { checkDemoOptions, type DemoOptions, type DemoPlan } from "./demo-options.ts";
import { type DemoPhase, type DemoReport, summarise } from "./demo-report.ts";
import { type PhaseOutcome, runPhase } from "./phase.ts";
import { contenders } from "./stage.ts";

/** Queues fill and the hedger learns in this time. Both phases have it, and neither counts it. */
const WARMUP_MS = 3_000;
/** On a slow machine the queue limit is longer, by which round robin's queue is full. */
const WARMUP_MS_PER_FACTOR = 1_500;
/** Above it the machine stood still while it measured, and a tail of some 60 ms cannot be told from that. */
const MAX_SEND_LAG_P999_MS = 20;

/**
 * The same requests twice through a proxy to ten servers of which one is five times slower: in turn, as
 * most balancers do by default, then by Bobtail's policy. Real sockets, honest load, one table.
 *
 * Rejects with `ERR_BOBTAIL_OPTION` for an option out of range. Every process it starts has ended when it settles.
 */
export async function runDemo(options: DemoOptions = {}): Promise<DemoReport> {
  const plan = checkDemoOptions(options);
  let calibrated = await calibrate(plan, contenders(plan).bobtail);
  try {
    let phases = await runPhases(plan, calibrated, true);
    if (mayStartAgain(plan, phases, calibrated.factor)) {
      await calibrated.fleet.stop();
      const factor = calibrated.factor * 2;
      calibrated = { ...calibrated, ...(await openFleet(plan, factor)), factor };
      phases = await runPhases(plan, calibrated, false);
    }
    return reportOf(plan, calibrated, phases);
  } finally {
    await calibrated.fleet.stop();
  }
}

/**
 * Once, at half the speed, where requests left late in either phase: whatever that phase showed, it was
 * the machine's doing and not the contender's.
 */
function mayStartAgain(plan: DemoPlan, phases: readonly PhaseOutcome[], factor: number): boolean {
  if (plan.factor !== undefined || plan.signal.aborted || factor >= SLOWEST_FACTOR) return false;
  return phases.some((outcome) => isDisturbed(outcome, factor));
}

async function runPhases(
  plan: DemoPlan,
  { fleet, plan: stretched, factor }: Calibrated,
  isFirstRound: boolean,
): Promise<PhaseOutcome[]> {
  const { baseline, bobtail } = contenders(plan);
  const outcomes: PhaseOutcome[] = [];
  for (const contender of [baseline, bobtail]) {
    if (plan.signal.aborted) break;
    const outcome = await runPhase(contender, fleet, stretched, {
      label: isFirstRound ? contender.label : `${contender.label}, again at half the speed`,
      warmupMs: Math.max(WARMUP_MS, WARMUP_MS_PER_FACTOR * factor),
      durationMs: plan.seconds * 1_000,
      factor,
    });
    // Stopped in its warm-up: there is nothing to show of it.
    if (outcome.load.measured.ledger.sent === 0) break;
    outcomes.push(outcome);
    if (isFirstRound && mayStartAgain(plan, outcomes, factor)) break;
  }
  return outcomes;
}

function isDisturbed(outcome: PhaseOutcome, factor: number): boolean {
  const lagMs = outcome.load.measured.sendLag.quantile(0.999) / 1_000;
  return lagMs > MAX_SEND_LAG_P999_MS * factor;
}

function reportOf(
  plan: DemoPlan,
  { factor, isFastEnough }: Calibrated,
  outcomes: readonly PhaseOutcome[],
): DemoReport {
  const { ratePerSec, stalls, hedge, signal } = plan;
  const phases: DemoPhase[] = outcomes.map((outcome) => summarise(outcome, factor));
  const disturbed = outcomes.some((outcome) => isDisturbed(outcome, factor));
  return {
    phases,
    factor,
    isTooSlow: !signal.aborted && (disturbed || !isFastEnough),
    ratePerSec,
    stalls,
    hedge,
    partial: signal.aborted,
  };
}
