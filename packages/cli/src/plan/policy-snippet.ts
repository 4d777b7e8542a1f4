import { budgetBurst, type HedgePlan } from "bobtail/plan";
import { showCount, showPercent, showQuantile } from "./figures.ts";

/** The deadline of a policy without one; a hedge after it would be refused. */
const DEFAULT_DEADLINE_MS = 30_000;

/** The proposal as a policy file that `bobtail check` accepts; only its endpoints are examples. */
export function policySnippet(plan: HedgePlan): string {
  const { proposed, budgetRatio, fanOut, count } = plan;
  const lines = [
    `# By bobtail plan, from ${showCount(count)} ${count === 1 ? "latency" : "latencies"}; requests wait for ${showCount(fanOut)} ${fanOut === 1 ? "call" : "calls"} of this service.`,
    ...comments(plan),
    "services:",
    "  leaf:",
    "    endpoints: [http://127.0.0.1:9001, http://127.0.0.1:9002] # examples: put yours here",
  ];
  if (isHedged(plan)) lines.push(`    hedge: { after: ${policyDelay(proposed.delayMs)}, max: 1 }`);
  lines.push(`    budget: { extra: ${policyRatio(budgetRatio)}, burst: ${burstOf(plan)} }`);
  return `${lines.join("\n")}\n`;
}

/** Whether the snippet holds a hedge: not where none helps, the fleet cannot bear it, or the delay is past any deadline. */
export function isHedged({ proposed, load }: HedgePlan): boolean {
  return (
    proposed.kind !== "no-hedge" &&
    proposed.extraRatio > 0 &&
    proposed.delayMs < DEFAULT_DEADLINE_MS &&
    load?.isSafe !== false
  );
}

/** Large enough that chance alone seldom empties the bucket; the policy's default where nothing hedges. */
function burstOf(plan: HedgePlan): number {
  const { proposed, budgetRatio, fanOut, quantile } = plan;
  if (!isHedged(plan)) return 10;
  // A tenth of the requests that may be slow anyway.
  const missRatio = (1 - quantile) / 10;
  const dueRatio = proposed.extraRatio / proposed.probability;
  return budgetBurst({ dueRatio, budgetRatio, fanOut, missRatio });
}

function comments(plan: HedgePlan): string[] {
  const { proposed, load, quantile } = plan;
  if (load?.isSafe === false)
    return ["# No hedge: at this load its extra work is not safe. Add capacity first."];
  if (!isHedged(plan))
    return [`# No hedge: within the budget none shortens the request's ${showQuantile(quantile)}.`];
  const due = proposed.extraRatio / proposed.probability;
  if (proposed.probability >= 1) return [];
  return [
    `# ${showPercent(due)} of the calls outlive this delay; the budget lets ${showPercent(proposed.probability)} of them hedge, which is`,
    "# better than a later delay that would let all of them.",
  ];
}

/** Rounded up to four digits: a later hedge costs less, an earlier one more than was planned. */
export function policyDelay(delayMs: number): string {
  if (delayMs === 0) return "0ms";
  const step = 10 ** (Math.floor(Math.log10(delayMs)) - 3);
  const rounded = Math.ceil(Number((delayMs / step).toPrecision(12))) * step;
  return `${trim(rounded.toFixed(Math.max(0, Math.min(6, -Math.floor(Math.log10(step))))))}ms`;
}

function policyRatio(ratio: number): string {
  return `${trim((ratio * 100).toFixed(6))}%`;
}

function trim(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}
