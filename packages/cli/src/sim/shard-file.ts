import { checkScenario } from "bobtail/sim";
import { CommandFailure } from "../terminal/failure.ts";
import type { TaskResult } from "./compute-task.ts";
import type { Shard } from "./shard.ts";
import { fingerprintOf, type SimJob } from "./sim-job.ts";

const SHARD_SCHEMA = "bobtail.sim-shard/1";

/** What one shard found, with all that is needed to merge it. */
export interface ShardFile {
  readonly schema: typeof SHARD_SCHEMA;
  readonly version: string;
  /** Of the job and the version. */
  readonly fingerprint: string;
  readonly shard: Shard;
  /** False when it was ended early. */
  readonly complete: boolean;
  readonly job: SimJob;
  readonly results: readonly (readonly [task: number, result: TaskResult])[];
}

/** One shard of a job, from the tasks that were computed. */
export function shardFile(
  { job, version, shard }: { job: SimJob; version: string; shard: Shard },
  { results, complete }: { results: ReadonlyMap<number, TaskResult>; complete: boolean },
): ShardFile {
  const fingerprint = fingerprintOf(job, version);
  const entries = [...results].sort(([a], [b]) => a - b);
  return { schema: SHARD_SCHEMA, version, fingerprint, shard, complete, job, results: entries };
}

const REMEDY = "Give a file that `bobtail sim --shard i/n --out FILE` wrote.";

/** Reads the text of a shard's file. Throws a {@link CommandFailure} for anything else. */
export function parseShardFile(text: string, file: string): ShardFile {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new CommandFailure(`${file}: this is not JSON, or it is cut short`, REMEDY);
  }
  if (!isRecord(data) || data.schema !== SHARD_SCHEMA) {
    const schema = isRecord(data) && typeof data.schema === "string" ? data.schema : "none";
    throw new CommandFailure(
      `${file}: expected schema ${SHARD_SCHEMA}, received ${JSON.stringify(schema.slice(0, 60))}`,
      REMEDY,
    );
  }
  const { version, fingerprint, shard, job, complete, results } = data;
  const isShard =
    isRecord(shard) &&
    isCount(shard.index, 1) &&
    isCount(shard.count, 1) &&
    shard.index <= shard.count;
  const areResults =
    Array.isArray(results) &&
    results.every((entry) => Array.isArray(entry) && isCount(entry[0], 0) && isRecord(entry[1]));
  if (
    typeof version !== "string" ||
    typeof fingerprint !== "string" ||
    typeof complete !== "boolean" ||
    !isShard ||
    !areResults ||
    !isJob(job)
  )
    throw new CommandFailure(`${file}: its contents are damaged`, REMEDY);
  return data as unknown as ShardFile;
}

interface Named {
  readonly file: string;
  readonly shard: ShardFile;
}

/**
 * All results of a job from its shards. Refuses shards of another job or version, one that is there twice, one
 * that is missing, one that was ended early, and results that belong to another shard.
 */
export function mergeShards(
  shards: readonly Named[],
  version: string,
): { readonly job: SimJob; readonly results: ReadonlyMap<number, TaskResult> } {
  const [first] = shards;
  if (first === undefined) throw new CommandFailure("no shard was given", REMEDY);
  const files = new Map<number, string>();
  const results = new Map<number, TaskResult>();
  for (const { file, shard } of shards) {
    refuseOther(first, { file, shard }, version);
    const { index, count } = shard.shard;
    const twin = files.get(index);
    if (twin !== undefined)
      throw new CommandFailure(
        `${file}: shard ${index}/${count} is in ${twin} already`,
        "Give each shard once: added twice, its requests would count twice.",
      );
    files.set(index, file);
    if (!shard.complete)
      throw new CommandFailure(
        `${file}: shard ${index}/${count} was ended early`,
        "Run that shard again.",
      );
    for (const [task, result] of shard.results) {
      if (task % count !== index - 1 || results.has(task))
        throw new CommandFailure(`${file}: its contents are damaged`, REMEDY);
      results.set(task, result);
    }
  }
  const { count } = first.shard.shard;
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((i) => !files.has(i));
  if (missing.length > 0) {
    const names = missing.slice(0, 10).map((i) => `${i}/${count}`);
    throw new CommandFailure(
      `shards are missing: ${names.join(", ")}${missing.length > 10 ? ", ..." : ""}`,
      `Run each with \`--shard i/${count}\` and give all ${count} files.`,
    );
  }
  return { job: first.shard.job, results };
}

function refuseOther(first: Named, { file, shard }: Named, version: string): void {
  if (shard.version !== version)
    throw new CommandFailure(
      `${file}: made by version ${shard.version}, this is ${version}`,
      "Run all shards and the merge with one version.",
    );
  if (shard.fingerprint !== fingerprintOf(shard.job, version))
    throw new CommandFailure(`${file}: its contents are damaged`, REMEDY);
  const [a, b] = [first.shard, shard];
  if (a.fingerprint !== b.fingerprint)
    throw new CommandFailure(
      `${file}: shard of another simulation than ${first.file}: ${difference(a.job, b.job)}`,
      "Shards merge when scenario, --set, --sweep, --runs, --seed and --scale are the same.",
    );
  if (a.shard.count !== b.shard.count)
    throw new CommandFailure(
      `${file}: one of ${b.shard.count} shards, ${first.file} is one of ${a.shard.count}`,
      "Run all shards with the same n.",
    );
}

function difference(a: SimJob, b: SimJob): string {
  const said = (label: string, x: unknown, y: unknown): string[] =>
    JSON.stringify(x) === JSON.stringify(y) ? [] : [label];
  return [
    ...said("the scenario differs", a.source, b.source),
    ...said("--set differs", a.sets, b.sets),
    ...said("--sweep differs", a.sweeps, b.sweeps),
    ...said("--runs differs", a.runs, b.runs),
    ...said("--seed differs", a.seed, b.seed),
    ...said("--scale differs", a.scale, b.scale),
  ].join(", ");
}

function isJob(job: unknown): boolean {
  if (!isRecord(job) || !isRecord(job.source)) return false;
  const { source, sets, sweeps, runs, seed, scale } = job;
  const areTexts = (list: unknown): boolean =>
    Array.isArray(list) && list.every((item) => typeof item === "string");
  return (
    areTexts(sets) &&
    areTexts(sweeps) &&
    (runs === undefined || isCount(runs, 1)) &&
    (seed === undefined || Number.isSafeInteger(seed)) &&
    typeof scale === "number" &&
    scale > 0 &&
    (source.kind === "file"
      ? checkScenario(source.scenario).ok
      : source.kind === "built-in" && typeof source.name === "string")
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown, min: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= min;
}
