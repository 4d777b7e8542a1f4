import { createHash } from "node:crypto";
import type { RateSegment } from "../load-options.ts";
import type { LoadPlan } from "../load-plan.ts";

/** A target as a report tells it: what may be a secret (passwords, header values, bodies) is a digest. */
export interface TargetSetup {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly valueSha256: string }[];
  readonly bodyBytes: number;
  /** Empty without a body. */
  readonly bodySha256: string;
  readonly weight: number;
}

/** All that a run was asked to do. */
export interface RunSetup {
  readonly targets: readonly TargetSetup[];
  readonly profile: readonly RateSegment[];
  /** Of the planned moments; empty without a trace. */
  readonly traceSha256: string;
  readonly plannedCount: number;
  readonly durationMs: number;
  readonly warmupMs: number;
  readonly warmupReason: string;
  readonly arrivals: "poisson" | "uniform";
  readonly seed: number;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  readonly connections: number;
  readonly protocol: "http1" | "http2";
  readonly sse: boolean;
  readonly workers: number;
  readonly pacing: "thread" | "timer";
}

export function setupOf(plan: LoadPlan, warmupReason: string): RunSetup {
  const { plannedMs } = plan;
  return {
    targets: plan.targets.map((target) => ({
      method: target.method,
      origin: target.origin,
      path: target.path,
      headers: Object.entries(target.headers).map(([name, value]) => ({
        name,
        valueSha256: sha256(value),
      })),
      bodyBytes: target.body?.length ?? 0,
      bodySha256: target.body === undefined ? "" : sha256(target.body),
      weight: target.weight,
    })),
    profile: plan.profile,
    traceSha256: plannedMs === undefined ? "" : sha256(new Uint8Array(plannedMs.buffer)),
    plannedCount: plan.count,
    durationMs: plan.durationMs,
    warmupMs: plan.warmupMs,
    warmupReason,
    arrivals: plan.arrivals,
    seed: plan.seed,
    timeoutMs: plan.timeoutMs,
    maxInFlight: plan.maxInFlight,
    connections: plan.connections,
    protocol: plan.protocol,
    sse: plan.sse,
    workers: plan.workers,
    pacing: plan.pacing,
  };
}

/** What two runs must share before their figures may be set against each other, by the name that a message uses. */
function comparable(setup: RunSetup): Readonly<Record<string, unknown>> {
  return {
    rate: [setup.profile, setup.traceSha256],
    duration: setup.durationMs,
    "warm-up": setup.warmupMs,
    arrivals: setup.arrivals,
    // Not the origin: that is what is compared.
    requests: setup.targets.map(({ origin: _, ...target }) => target),
    timeout: setup.timeoutMs,
    "in-flight cap": setup.maxInFlight,
    connections: setup.connections,
    protocol: [setup.protocol, setup.sse],
    workers: [setup.workers, setup.pacing],
    // How failures enter the percentiles: as infinite, and given-up ones as at least as long as they were waited for.
    outcomes: "failures-are-infinite/1",
  };
}

/** Of what must match for a comparison, the tool's version included; not the origin and not the seed. */
export function setupHash(setup: RunSetup, version: string): string {
  return sha256(JSON.stringify([version, comparable(setup)]));
}

/** What keeps two runs from being compared: `rate`, `duration`, `requests`; none when they match. */
export function setupDifferences(a: RunSetup, b: RunSetup): readonly string[] {
  const [one, other] = [comparable(a), comparable(b)];
  return Object.keys(one).filter((key) => JSON.stringify(one[key]) !== JSON.stringify(other[key]));
}

/** Whether it asks for one rate from its start to its end, as far as is known: a trace is what it is. */
export function isConstantRate({ profile, traceSha256 }: RunSetup): boolean {
  const rate = profile[0]?.fromPerSec;
  return (
    traceSha256 === "" &&
    profile.every(({ fromPerSec, toPerSec }) => fromPerSec === rate && toPerSec === rate)
  );
}

/** Requests a second over the whole of what is measured. */
export function meanRatePerSec(setup: RunSetup): number {
  return (setup.plannedCount / setup.durationMs) * 1_000;
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
