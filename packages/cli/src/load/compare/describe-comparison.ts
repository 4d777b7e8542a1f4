import { showCount, showMs, showPercent } from "../../plan/figures.ts";
import { showRate } from "../output/describe-run.ts";
import { meanRatePerSec, type RunSetup } from "../output/run-setup.ts";
import type { ComparedQuantity } from "./compare-runs.ts";
import type { SingleQuantity } from "./compare-singles.ts";
import type { RunsReport, SinglesReport } from "./comparison-report.ts";
import { QUANTITIES } from "./quantity.ts";
import { fewestRuns } from "./rank-sum.ts";
import { showChange, showValue } from "./show-quantity.ts";
import type { SteadyState } from "./steady-state.ts";
import type { Verdict } from "./verdict.ts";

export function headOf({ nameA, nameB, comparison }: RunsReport): string {
  return `A ${nameA} against B ${nameB}, ${comparison.runsA} + ${comparison.runsB} runs`;
}

export function singlesHead({ nameA, nameB }: SinglesReport): string {
  return `A ${nameA} against B ${nameB}`;
}

/** Name, both values and the change; `-` for what is not known. */
export function singleCells({ name, valueA, valueB, change }: SingleQuantity): string[] {
  const { unit, scale } = QUANTITIES[name];
  const shown = (value: number | undefined): string =>
    value === undefined ? "-" : showValue(value, unit);
  return [
    name,
    shown(valueA),
    shown(valueB),
    change === undefined ? "-" : showChange(change, scale),
  ];
}

/** What each run was, in words. */
export function describeLoad(setup: RunSetup): string {
  const path = setup.targets[0]?.path ?? "/";
  const arrivals = setup.arrivals === "poisson" ? "Poisson" : "evenly spaced";
  const warmup =
    setup.warmupMs === 0 ? "no warm-up" : `${setup.warmupMs / 1_000} s of warm-up left out`;
  return `Each run: ${path}, ${showRate(meanRatePerSec(setup))} ${arrivals} for ${setup.durationMs / 1_000} s, ${warmup}; timeout ${showMs(setup.timeoutMs)}, failed requests infinitely long.`;
}

/** The whole in a sentence. */
export function summaryOf({ comparison }: RunsReport): string {
  const of = (kind: Verdict["kind"]): string[] =>
    comparison.compared.filter(({ verdict }) => verdict.kind === kind).map(({ name }) => name);
  const parts = [
    ["B is worse in", of("worse")],
    ["better in", of("better")],
    ["no different in", of("no-difference")],
    ["undecided in", of("cannot-tell")],
  ] as const;
  const said = parts
    .filter(([, names]) => names.length > 0)
    .map(([text, names]) => `${text} ${names.join(", ")}`);
  if (said.length === 0) return "Nothing was compared.";
  const sentence = said.join("; ");
  return `${sentence.startsWith("B is") ? sentence : `B is ${sentence}`}.`;
}

/** What a reader should know before relying on it. */
export function notesOf(report: RunsReport): string[] {
  const { comparison, notes } = report;
  const { compared, level, confidence, runsA, runsB } = comparison;
  const fewest = fewestRuns(compared.length, level);
  return [
    ...steadyNotes(report),
    ...(Math.min(runsA, runsB) < fewest && compared.length > 0
      ? [
          `With ${runsA} + ${runsB} runs nothing can be called: ${compared.length} quantities need at least ${fewest} a side.`,
        ]
      : []),
    ...findableNote(compared),
    ...notes,
    `Values: median run of each side, Hodges-Lehmann shift, its ${showPercent(confidence)} interval (all hold together with ${showPercent(1 - level)}), exact Mann-Whitney p after Holm. Strip: . one run, : two, # more, x unbounded.`,
  ];
}

/** What so many runs would have found, of those that are open. */
function findableNote(compared: readonly ComparedQuantity[]): string[] {
  const open = compared.flatMap(({ name, verdict, findable }) =>
    verdict.kind === "cannot-tell" && findable !== undefined && name !== "errors"
      ? [`${name} ${showPercent(findable)}`]
      : [],
  );
  return open.length === 0
    ? []
    : [
        `So many runs find changes of about: ${open.join(", ")}. Longer runs find smaller ones too.`,
      ];
}

/** Whether the sides had settled; nothing when they had. */
export function steadyNotes(report: RunsReport): string[] {
  const { steadyA, steadyB } = report;
  return [...new Set([...steadyNote("A", steadyA, report), ...steadyNote("B", steadyB, report)])];
}

function steadyNote(
  side: "A" | "B",
  state: SteadyState,
  { setup, intervalMs }: RunsReport,
): string[] {
  const seconds = (values: number): number => Math.ceil((values * intervalMs) / 1_000);
  switch (state.kind) {
    case "steady":
      return [];
    case "warming-up":
      return [
        `${side} was still warming up: by MSER-5 about the first ${seconds(state.values)} s of each run differ from the rest. Give --warmup ${Math.ceil(setup.warmupMs / 1_000) + seconds(state.values)}s.`,
      ];
    case "no-steady-state":
      return [
        `${side}: no steady state: the p90 still goes ${state.direction} in the last third of its runs (Kendall, p ${state.pValue.toPrecision(2)}). Its figures depend on how long it was measured.`,
      ];
    case "too-short":
      return [
        `Whether a side was in a steady state cannot be told from runs of less than ${showCount(seconds(state.needed))} s.`,
      ];
  }
}
