/**
 * `bobtail/sim`: a discrete-event world in which the decisions of production run in virtual time. No clock, no Node:
 * it runs in a browser's worker as it is.
 */

export { Histogram } from "./core/histogram.ts";
export { type Rng, seededRng } from "./core/rng.ts";
export type { CallObserver } from "./policies/observer.ts";
export type { ServiceOptions } from "./policies/options.ts";
export { type CheckedScenario, checkScenario } from "./sim/check-scenario.ts";
export type { Problem } from "./sim/checks.ts";
export { DecisionDigest } from "./sim/decision-digest.ts";
export { DecisionLog } from "./sim/decision-log.ts";
export { EventQueue } from "./sim/event-queue.ts";
export { type Interval, intervalOf } from "./sim/interval.ts";
export { compileLaw, type Draw, type Law, meanOf } from "./sim/law.ts";
export {
  mergeResults,
  type Occupancy,
  type ServerResult,
  type SimResult,
} from "./sim/result.ts";
export { decodeResult, type EncodedResult, encodeResult } from "./sim/result-codec.ts";
export * from "./sim/result-views.ts";
export { runTask, type ScenarioTask, scenarioTasks } from "./sim/run-scenario.ts";
export { type FanOutSampling, type SampledFanOut, sampleFanOut } from "./sim/sampled-fan-out.ts";
export type {
  Arrivals,
  ChoreOptions,
  Fault,
  ReportOptions,
  RequestClass,
  Scenario,
  ServerOptions,
  WorldOptions,
  WorldSetup,
} from "./sim/scenario.ts";
export { scenarioNamed, scenarios } from "./sim/scenarios/registry.ts";
export {
  type BuiltInScenario,
  type Cell,
  type Column,
  type RowRunner,
  type SampleRow,
  type ScenarioRunOptions,
  type ScenarioTable,
  type Statistic,
  sampleTableRow,
  type TableRow,
  type WorldRow,
  worldTableRow,
} from "./sim/scenarios/scenario-table.ts";
export { rowHolds, type SimRow, type Tolerance } from "./sim/verify/sim-row.ts";
export { simRows } from "./sim/verify/sim-rows.ts";
export { World, type WorldHooks } from "./sim/world.ts";
