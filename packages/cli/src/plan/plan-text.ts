import type { HedgePlan, PlanRow, Prediction } from "bobtail/plan";
import type { Palette } from "../terminal/palette.ts";
import {
  showCount,
  showInterval,
  showMs,
  showPercent,
  showQuantile,
  showTail,
  wrap,
} from "./figures.ts";
import type { LatencyLog } from "./latency-log.ts";
import { isObjectiveKnown } from "./objective.ts";
import { planWarnings } from "./plan-warnings.ts";
import { policySnippet } from "./policy-snippet.ts";
import type { SimulatedPlan } from "./simulate-plan.ts";

/** What `bobtail plan` prints: what was read, the table, verdicts, warnings, the policy. */
export function planText(
  plan: HedgePlan,
  log: LatencyLog,
  { palette, simulated }: { palette: Palette; simulated?: SimulatedPlan | undefined },
): string {
  const parts = [wrap(whatWasRead(plan, log)), targets(plan, palette), table(plan, palette)];
  const notes = tableNotes(plan);
  if (notes !== "") parts.push(palette.dim(notes));
  const slo = objective(plan, palette);
  if (slo !== undefined) parts.push(slo);
  const load = loadLine(plan, palette);
  if (load !== undefined) parts.push(load);
  if (simulated !== undefined) parts.push(wrap(simulatedText(plan, simulated)));
  const warnings = planWarnings(plan, log);
  if (warnings.length > 0)
    parts.push(warnings.map(({ text }) => palette.yellow(wrap(`! ${text}`))).join("\n"));
  parts.push(policySnippet(plan).trimEnd());
  return `${parts.join("\n\n")}\n`;
}

function whatWasRead({ fanOut }: HedgePlan, log: LatencyLog): string {
  const leaf = [0.5, 0.95, 0.99, 0.999].map(
    (q) => `${showQuantile(q)} ${showMs(log.latency.quantile(q))}`,
  );
  const how = log.isCompressed ? ", counted in buckets of 0.8 %" : "";
  const calls = fanOut === 1 ? "one call" : `${showCount(fanOut)} calls at once`;
  return `${showCount(log.count)} ${log.count === 1 ? "latency" : "latencies"} (${log.formats.join(", ")}${how}): ${leaf.join(", ")}. A request waits for ${calls}.`;
}

function targets(plan: HedgePlan, palette: Palette): string {
  const lines = plan.leafTargets.map(({ quantile, leafQuantile, oneSlowCallIn }) => [
    `request ${showQuantile(quantile)}`,
    `leaf ${showTail(leafQuantile)}`,
    `at most 1 slow call in ${showCount(Math.max(1, oneSlowCallIn))}`,
  ]);
  return [palette.bold("What each leaf must meet"), ...align(lines)].join("\n");
}

const ROW_NAMES: Readonly<Record<PlanRow["kind"], string>> = {
  "no-hedge": "no hedge",
  "budget-delay": "delay that fits the budget",
  best: "best delay and probability",
};

function table(plan: HedgePlan, palette: Palette): string {
  const quantiles = plan.rows[0]?.predictions.map((p) => showQuantile(p.quantile)) ?? [];
  const isObjective = plan.withinMs !== undefined;
  const head = [
    "",
    "delay",
    "probability",
    "extra calls",
    ...quantiles.map((quantile) => `request ${quantile}`),
    ...(isObjective ? ["late", "largest fan-out"] : []),
  ];
  const rows = plan.rows.map((row) => [
    `${row === plan.proposed ? "> " : "  "}${ROW_NAMES[row.kind]}`,
    showMs(row.delayMs),
    row.delayMs === Number.POSITIVE_INFINITY ? "-" : row.probability.toFixed(2),
    showPercent(row.extraRatio),
    ...row.predictions.map(showPrediction),
    ...(isObjective ? [showPercent(row.lateRatio ?? 0), showFanOut(row.maxFanOut ?? 0)] : []),
  ]);
  const [first = "", ...rest] = align([head, ...rows], true);
  return [palette.bold(first), ...rest].join("\n");
}

function showFanOut(most: number): string {
  return most === Number.POSITIVE_INFINITY ? "any" : showCount(most);
}

function showPrediction({ latencyMs, low, high, isSupported }: Prediction): string {
  if (!isSupported) return "-";
  return `${showMs(latencyMs)} ${showInterval(low, high)}`;
}

function tableNotes(plan: HedgePlan): string {
  const shown = plan.rows.flatMap((row) => row.predictions);
  const notes = ["In brackets: intervals at 95 %, if the latencies are independent."];
  if (shown.some((p) => p.isSupported && p.high === undefined))
    notes.push("?: the log is too short for an upper bound.");
  if (shown.some((p) => !p.isSupported)) notes.push("-: the log is too short for a figure.");
  return wrap(notes.join(" "));
}

function objective(plan: HedgePlan, palette: Palette): string | undefined {
  const { withinMs, quantile, advice, proposed } = plan;
  if (withinMs === undefined) return undefined;
  const what = `${showQuantile(quantile)} < ${showMs(withinMs)}`;
  if (advice === undefined && !isObjectiveKnown(plan))
    return `${palette.yellow("not known")}: ${what}: the log is too short to tell`;
  if (advice === undefined)
    return `${palette.green("met")}: ${what}, with ${ROW_NAMES[proposed.kind]}`;
  const ways = [
    advice.maxFanOut === 0
      ? "No fan-out is small enough: even one leaf is late too often"
      : `Lower the fan-out to ${showCount(advice.maxFanOut)}: partitions ${advice.partitionFactor.toFixed(1)} times larger, or fewer services a request`,
    `Answer ${showPercent(advice.cachedRatio)} of the leaf calls from a cache`,
    advice.enough === undefined
      ? "No number of answers is enough in time"
      : `Answer with ${showCount(advice.enough)} of ${showCount(plan.fanOut)} leaves, marked as partial`,
    `Mend the leaves: ${slowCalls(advice.slowRatio)} is later (hedged where a hedge is proposed), ${slowCalls(advice.allowedSlowRatio)} may`,
  ];
  const list = ways.map((way) => `  - ${way}.`).join("\n");
  return `${palette.red("not met")}: ${what}, with any hedge within the budget. What would:\n${list}`;
}

function slowCalls(ratio: number): string {
  return `1 call in ${showCount(1 / ratio)}`;
}

function simulatedText(plan: HedgePlan, simulated: SimulatedPlan): string {
  const { p50Ms, askedMs, extraRatio, refusedRatio } = simulated;
  const figure = ({ mean, low, high }: { mean: number; low: number; high: number }): string =>
    `${showMs(mean)} ${showInterval(low, high)}`;
  return (
    `Simulated: ${showCount(simulated.requests)} requests by the policy below, on latencies drawn from the log${correlations(simulated)}: ` +
    `p50 ${figure(p50Ms)}, ${showQuantile(plan.quantile)} ${figure(askedMs)}, ${showPercent(extraRatio.mean)} extra calls; ` +
    `the budget refused ${showPercent(refusedRatio)} of the hedges that were due.${surprise(plan, askedMs.low)}`
  );
}

function correlations({ replicaCorrelation, leafCorrelation }: SimulatedPlan): string {
  const parts: string[] = [];
  if (replicaCorrelation > 0)
    parts.push(`second copies that meet what the first met in ${showPercent(replicaCorrelation)}`);
  if (leafCorrelation > 0)
    parts.push(`${showPercent(leafCorrelation)} of the slowness striking whole requests`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** By so much the simulation may be above the prediction before it is said. */
const SURPRISE = 1.1;

function surprise({ proposed, quantile }: HedgePlan, atLeastMs: number): string {
  const predicted = proposed.predictions.find((p) => p.quantile === quantile);
  if (predicted === undefined || atLeastMs <= SURPRISE * (predicted.high ?? predicted.latencyMs))
    return "";
  return " That is longer than predicted: hedges come in clumps, and the budget refuses some that would have helped. A larger budget or a later delay gives it room.";
}

function loadLine({ load }: HedgePlan, palette: Palette): string | undefined {
  if (load === undefined) return undefined;
  const verdict = load.isSafe ? palette.green("safe") : palette.red("not safe");
  return `Load: ${showPercent(load.loadRatio)} becomes ${showPercent(load.resultingRatio)} with the proposed hedge: ${verdict}`;
}

/** Columns as wide as their widest cell; numbers to the right. */
function align(rows: readonly (readonly string[])[], isNumbers = false): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) =>
        isNumbers && i > 0 ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join("   ")
      .trimEnd(),
  );
}
