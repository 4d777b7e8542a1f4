import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import type { RunRecord } from "../output/run-record.ts";
import { setupDifferences, setupHash } from "../output/run-setup.ts";

/** What of a run decides whether it may be set against another. */
export type Comparable = Pick<RunRecord, "setup" | "version"> & {
  /** A file or a URL. */
  readonly name: string;
};

/**
 * Refuses what was not measured alike: other rates, arrivals, durations, paths, timeouts, treatment of failures, or another version of
 * the tool. Throws a {@link CommandFailure} that names every field.
 */
export function refuseMismatch(all: readonly Comparable[]): void {
  const [first] = all;
  if (first === undefined) return;
  const hash = setupHash(first.setup, first.version);
  const other = all.find(({ setup, version }) => setupHash(setup, version) !== hash);
  if (other === undefined) return;
  const fields = [
    ...setupDifferences(first.setup, other.setup),
    ...(first.version === other.version
      ? []
      : [`tool version (${first.version} and ${other.version})`]),
  ];
  throw new CommandFailure(
    `${first.name} and ${other.name} cannot be compared: they differ in ${fields.join(", ")}`,
    "Measure both with the same options, and compare those.",
  );
}

/** Refuses runs whose figures do not stand. Throws a {@link CommandFailure} of code 5. */
export function refuseUnsound(runs: readonly NamedRun[]): void {
  const [first] = unsoundness(runs);
  if (first === undefined) return;
  throw new CommandFailure(
    first,
    "Compare whole runs, made at a rate that the generator can keep or from a machine of its own.",
    EXIT.notValid,
  );
}

/** Refuses files of one run: it would count as often as it is named. Throws a {@link CommandFailure}. */
export function refuseTwice(runs: readonly NamedRun[]): void {
  const seen = new Map<string, string>();
  for (const { name, startedAt, setup } of runs) {
    // At the same moment another machine may have measured another target, or with another seed.
    const key = JSON.stringify([startedAt, setup.seed, setup.targets.map(({ origin }) => origin)]);
    const other = seen.get(key);
    if (other !== undefined)
      throw new CommandFailure(
        `${other} and ${name} are of the same run, which would count twice`,
        "Name each run once, on one side.",
      );
    seen.set(key, name);
  }
}

export type NamedRun = RunRecord & { readonly name: string };

/** A sentence for each run whose figures do not stand. */
export function unsoundness(runs: readonly NamedRun[]): string[] {
  return runs.flatMap(({ name, partial, check }) => [
    ...(partial ? [`${name}: this run was stopped before its time`] : []),
    ...(check.verdict === "generator-limited"
      ? [`${name}: the load generator was the bottleneck: ${check.reasons.join("; ")}`]
      : []),
  ]);
}
