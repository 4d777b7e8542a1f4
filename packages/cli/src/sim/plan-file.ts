import {
  busyRatio,
  type Column,
  extraRatio,
  failedRatio,
  quantileMs,
  type Scenario,
  type ServiceOptions,
  type Statistic,
} from "bobtail/sim";
import { applySettings } from "./settings.ts";
import type { SimJob } from "./sim-job.ts";
import type { PlanCell, SimPlan } from "./sim-plan.ts";

const COLUMNS: readonly Column[] = [
  { key: "p50", title: "p50", unit: "ms", digits: 1 },
  { key: "p99", title: "p99", unit: "ms", digits: 1 },
  { key: "p999", title: "p99.9", unit: "ms", digits: 1 },
  { key: "failed", title: "failed", unit: "ratio", digits: 2 },
  { key: "extra", title: "extra", unit: "ratio", digits: 1 },
  { key: "busy", title: "busy", unit: "ratio", digits: 1 },
];

const STATISTICS: Readonly<Record<string, Statistic>> = {
  p50: (r) => quantileMs(r, 0.5),
  p99: (r) => quantileMs(r, 0.99),
  p999: (r) => quantileMs(r, 0.999),
  failed: failedRatio,
  extra: extraRatio,
  busy: busyRatio,
};

const NOTES = {
  succeeded: "Percentiles are of the requests that succeeded; the share that failed stands beside.",
  roots:
    "Percentiles are of whole requests, which wait for all of their leaves; failed and extra are of leaf calls.",
} as const;

/** Rows: each policy of the file at each point of the sweep. */
export async function planFile(job: SimJob): Promise<SimPlan> {
  const scenario = (job.source as Extract<SimJob["source"], { kind: "file" }>).scenario;
  const name = scenario.name ?? "scenario";
  const { axes, subjects } = await applySettings([{ name, data: scaled(scenario, job) }], job);
  const policies = Object.keys(policiesOf(scenario));
  const cells = policies.flatMap((policy) =>
    subjects.map(({ data, at }): PlanCell => {
      const { name: _, policy: __, policies: ___, runs: ____, seed: _____, ...setup } = data;
      return { name: policy, at, world: { ...setup, policy: policiesOf(data)[policy] ?? {} } };
    }),
  );
  return {
    kind: "worlds",
    name,
    title: name,
    notes: [(scenario.leaves ?? 1) > 1 ? NOTES.roots : NOTES.succeeded],
    columns: COLUMNS,
    statistics: STATISTICS,
    axes,
    cells,
    runs: job.runs ?? scenario.runs ?? 1,
    seed: job.seed ?? scenario.seed ?? 1,
    scale: job.scale,
    digest: true,
  };
}

function policiesOf(scenario: Scenario): Readonly<Record<string, ServiceOptions>> {
  return scenario.policies ?? { policy: scenario.policy ?? {} };
}

function scaled(scenario: Scenario, { scale }: SimJob): Scenario {
  if (scale === 1) return scenario;
  return { ...scenario, requests: Math.max(20, Math.round(scenario.requests * scale)) };
}
