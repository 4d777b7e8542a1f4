import { showCount, showMs } from "../../plan/figures.ts";
import type { SelfCheck } from "../load-report.ts";

/** For whoever has a generator that could not keep up. */
export const SPARE_THE_GENERATOR =
  "Lower --rate, raise --max-in-flight or --workers, or give the generator a quiet machine of its own.";

/** Whether the generator kept up, in sentences; the first one is the verdict. */
export function checkSentences(check: SelfCheck): readonly string[] {
  const { sendLagP99Ms, loopDelayP99Ms, cpuCores, gcPauseMs, descriptorLimit, pacingFloorMs } =
    check;
  const figures = [
    `send lag p99 ${orDash(sendLagP99Ms)}`,
    ...(pacingFloorMs === undefined
      ? []
      : [`pacing floor on this host p90 ${showMs(pacingFloorMs)}`]),
    `event loop delay p99 ${orDash(loopDelayP99Ms)}`,
    `${cpuCores.toFixed(2)} cores`,
    `GC pauses ${showMs(gcPauseMs)}`,
    ...(descriptorLimit === undefined ? [] : [`${showCount(descriptorLimit)} descriptors`]),
  ].join(", ");
  const notes = check.notes.map((note) => `Note: ${note}.`);
  if (check.verdict === "ok") return [`Self-check: ok (${figures}).`, ...notes];
  return [
    "Self-check: generator-limited. These figures are of the generator as much as of the target.",
    ...check.reasons.map((reason) => `Why: ${reason}.`),
    SPARE_THE_GENERATOR,
    `(${figures}.)`,
    ...notes,
  ];
}

function orDash(ms: number): string {
  return Number.isNaN(ms) ? "-" : showMs(ms);
}
