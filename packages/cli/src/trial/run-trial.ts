import { SLOWEST_FACTOR } from "../demo/calibrate.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetOptions } from "../fleet/fleet-options.ts";
import type { LoadRun } from "../load/load.ts";
import {
  doubtsOf,
  figuresOf,
  isGradable,
  MAX_LATENESS_RATIO,
  type Measurement,
} from "./cell-figures.ts";
import { gradeOf } from "./grade.ts";
import type { Oracle } from "./oracle/oracle.ts";
import { type CellOutcome, runCell } from "./run-cell.ts";
import type { ScenarioRun, TrialScenario, TrialSetup } from "./scenarios/scenario.ts";
import type { FoundProgram, TrialTarget } from "./targets/target.ts";
import type { ReportedScenario, ReportedTarget, TrialCell, TrialReport } from "./trial-report.ts";

/** What a trial runs, with every choice made. */
export interface TrialPlan {
  readonly version: string;
  readonly command: string;
  readonly targets: readonly PlannedTarget[];
  readonly scenarios: readonly TrialScenario[];
  readonly setup: TrialSetup;
  /** All times are longer by it from the start, as on a slow machine; in [1, 8]. */
  readonly timeScale: number;
  /** Of the fleet's backends, as many as the setup has; default free ones. */
  readonly ports?: readonly number[] | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: (event: TrialEvent) => void;
  /** Before each cell's load. Rejects with a `CommandFailure` for what keeps the cell from running. */
  readonly beforeLoad?: ((url: string, fleet: Fleet) => Promise<void>) | undefined;
  /** For tests of what is made of its outcomes; default {@link runCell}. */
  readonly runCell?: typeof runCell | undefined;
}

export interface PlannedTarget {
  readonly target: TrialTarget;
  readonly found: FoundProgram;
  /** What was noticed on the way to it. */
  readonly warnings: readonly string[];
}

export type TrialEvent =
  | {
      readonly kind: "tick";
      readonly place: CellPlace;
      readonly run: Pick<LoadRun, "measured" | "elapsedMs">;
    }
  | { readonly kind: "cell"; readonly cell: TrialCell; readonly oracle: Oracle };

interface CellPlace {
  readonly target: string;
  readonly scenario: string;
  /** From 1. */
  readonly index: number;
  readonly count: number;
  readonly factor: number;
  readonly totalMs: number;
}

/**
 * Every target in every scenario, one cell after the other, all targets of a scenario side by side in time.
 * A cell that the machine disturbed is run once more, slower. Stopped by the signal, it gives what it has.
 */
export async function runTrial(plan: TrialPlan): Promise<TrialReport> {
  const trial = new Trial(plan);
  await trial.run();
  return trial.report();
}

class Trial {
  private readonly plan: TrialPlan;
  private readonly cells: TrialCell[];
  private readonly scenarios: ReportedScenario[];
  private readonly configs: Map<string, string>;
  /** Of the next cell: a machine that was too slow for one is not asked to be faster for the next, until it has time to spare. */
  private factor: number;

  constructor(plan: TrialPlan) {
    this.plan = plan;
    this.cells = [];
    this.scenarios = [];
    this.configs = new Map();
    this.factor = plan.timeScale;
  }

  async run(): Promise<void> {
    const { scenarios, targets, setup, signal, onEvent } = this.plan;
    for (const scenario of scenarios) {
      if (signal.aborted) return;
      const build = cachedBuild(scenario, setup, this.plan.ports);
      const { load, oracle } = build(1);
      this.scenarios.push(reported(scenario, load.ratePerSec, oracle));
      for (const { target } of targets) {
        if (signal.aborted) return;
        const cell = await this.cellOf(target, scenario.name, build);
        if (cell === undefined) return;
        this.cells.push(cell);
        onEvent({ kind: "cell", cell, oracle });
      }
    }
  }

  report(): TrialReport {
    const { version, command, setup, targets, scenarios, signal } = this.plan;
    return {
      version,
      command,
      setup,
      targets: targets.map(({ target, found, warnings }): ReportedTarget => {
        const { name, title, notes } = target;
        const config = this.configs.get(name) ?? "";
        return { name, title, version: found.version, config, notes, warnings };
      }),
      scenarios: this.scenarios,
      cells: this.cells,
      plannedCells: targets.length * scenarios.length,
      partial: signal.aborted,
    };
  }

  /** Undefined: stopped before anything was measured. */
  private async cellOf(
    target: TrialTarget,
    scenario: string,
    build: Build,
  ): Promise<TrialCell | undefined> {
    const first = await this.tryCell(target, scenario, build, false);
    if (first?.state !== "not-valid") {
      if (mayBeFaster(first)) this.factor = Math.max(this.plan.timeScale, this.factor / 2);
      return first;
    }
    if (this.factor >= SLOWEST_FACTOR || isTooSmall(first)) return first;
    this.factor = Math.min(SLOWEST_FACTOR, this.factor * 2);
    return (await this.tryCell(target, scenario, build, true)) ?? first;
  }

  private async tryCell(
    target: TrialTarget,
    scenario: string,
    build: Build,
    isRetry: boolean,
  ): Promise<TrialCell | undefined> {
    const { factor } = this;
    const { setup, signal, onEvent, beforeLoad } = this.plan;
    const { runCell: runOne = runCell } = this.plan;
    const run = build(factor);
    const place: CellPlace = {
      target: target.name,
      scenario,
      index: this.cells.length + 1,
      count: this.plan.targets.length * this.plan.scenarios.length,
      factor,
      totalMs: run.load.warmupMs + run.load.durationMs,
    };
    const outcome = await runOne({
      target,
      run,
      meanMs: setup.meanMs * factor,
      factor,
      signal,
      onTick: (load) => onEvent({ kind: "tick", place, run: load }),
      beforeLoad,
    });
    if ("config" in outcome && !this.configs.has(target.name))
      this.configs.set(target.name, outcome.config);
    const verdict = verdictOf(outcome, build(1).oracle);
    return verdict && { target: target.name, scenario, factor, isRetry, ...verdict };
  }
}

/** At twice the speed it would be half as late as it may be. */
function mayBeFaster(cell: TrialCell | undefined): boolean {
  return cell?.figures !== undefined && cell.figures.latenessRatio <= MAX_LATENESS_RATIO / 4;
}

/** Slower it would have as many requests. */
function isTooSmall({ figures }: TrialCell): boolean {
  return figures !== undefined && !isGradable(figures.requests);
}

type Verdict = Pick<TrialCell, "state" | "grade" | "why" | "figures">;

function verdictOf(outcome: CellOutcome, oracle: Oracle): Verdict | undefined {
  switch (outcome.kind) {
    case "nothing":
      return undefined;
    case "not-started":
      return { state: "not-started", grade: undefined, why: outcome.why, figures: undefined };
    case "broken":
      return { state: "not-valid", grade: undefined, why: outcome.why, figures: undefined };
    case "died":
      return { state: "died", grade: "F", why: outcome.why, figures: undefined };
    case "stopped": {
      const figures = figuresOf(outcome.measurement);
      return { state: "stopped", grade: undefined, why: "", figures };
    }
    case "measured":
      return measuredVerdict(outcome.measurement, oracle);
  }
}

function measuredVerdict(measurement: Measurement, oracle: Oracle): Verdict {
  const figures = figuresOf(measurement);
  const doubts = doubtsOf(measurement);
  if (doubts.length > 0)
    return { state: "not-valid", grade: undefined, why: doubts.join(" "), figures };
  const graded = gradeOf({
    p99Ms: figures.provenP99Ms,
    p999Ms: figures.provenP999Ms,
    failedRatio: figures.provenFailedRatio,
    ideal: oracle,
  });
  return { state: "graded", ...graded, figures };
}

/** The scenario's run at a time scale; that at 1 holds the oracle, since times in reports are divided by the scale. */
type Build = (factor: number) => ScenarioRun;

function cachedBuild(
  scenario: TrialScenario,
  setup: TrialSetup,
  ports: readonly number[] | undefined,
): Build {
  const built = new Map<number, ScenarioRun>();
  return (factor) => {
    const known = built.get(factor);
    if (known !== undefined) return known;
    const run = scenario.build(stretchSetup(setup, factor));
    const fixed = ports === undefined ? run : { ...run, fleet: withPorts(run.fleet, ports) };
    built.set(factor, fixed);
    return fixed;
  };
}

/** All other times of a scenario are multiples of the mean. The number of requests stays what it was. */
function stretchSetup(setup: TrialSetup, factor: number): TrialSetup {
  return {
    ...setup,
    meanMs: setup.meanMs * factor,
    durationMs: setup.durationMs * factor,
    warmupMs: setup.warmupMs * factor,
  };
}

function withPorts(fleet: FleetOptions, ports: readonly number[]): FleetOptions {
  const backends = fleet.backends.map((backend, i) => ({ ...backend, port: ports[i] }));
  return { ...fleet, backends };
}

function reported(scenario: TrialScenario, ratePerSec: number, oracle: Oracle): ReportedScenario {
  const { name, title, question, health } = scenario;
  return { name, title, question, health, ratePerSec, oracle };
}
