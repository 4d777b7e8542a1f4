import { checkOption } from "../core/errors.ts";
import type { Histogram } from "../core/histogram.ts";

/** More batches than this are joined in pairs when results are merged. */
const MAX_BATCHES = 1280;

/** What one server did while the world was measured. */
export interface ServerResult {
  /** Copies that came to it, and copies that a worker started. */
  sentCount: number;
  startedCount: number;
  /** Time that its workers worked, ms. */
  busyMs: number;
  /** 0: without limit. */
  workers: number;
}

/** Counts by number of copies held: how long servers held so many (ms), and how many arrivals met so many. */
export interface Occupancy {
  heldMs: number[];
  seenCount: number[];
}

/** What a run showed, without the warm-up unless said. Plain data that merges: the sum of two runs is a run. */
export interface SimResult {
  /** Runs in it, and the digest of each one's decisions ("" where none was taken). */
  runs: number;
  digests: string[];
  /** Calls that settled, and those that failed, by reason. */
  callCount: number;
  failedCount: number;
  failures: Record<string, number>;
  attemptCount: number;
  hedgeCount: number;
  hedgeWonCount: number;
  retryCount: number;
  /** Copies that were wanted and not sent, by reason, the warm-up included. */
  skipped: Record<string, number>;
  /** Latencies in microseconds of calls that succeeded, and for how long the failed ones were waited for. */
  latency: Histogram;
  failedAfter: Histogram;
  /** The same for root requests with several leaves; a root fails when a leaf does. */
  root: Histogram;
  rootFailedCount: number;
  /** `latency` (of roots, where there are any) in consecutive parts: what intervals are made from. */
  batches: Histogram[];
  servers: ServerResult[];
  measuredMs: number;
  /** Integral of the number of calls under way over the whole run, and the sum of all sojourns: Little's law says equal. */
  inSystemMs: number;
  sojournMs: number;
  occupancy: Occupancy | undefined;
}

/** Adds up runs of the same world. Histograms merge exactly, so shards of a sweep lose nothing. Throws `ERR_BOBTAIL_OPTION` for none, or for fleets that differ. */
export function mergeResults(results: readonly SimResult[]): SimResult {
  const [first, ...others] = results;
  if (first === undefined) {
    checkOption({ results: 0 }, "at least one result", false);
    throw new Error("unreachable");
  }
  const sum = copyOf(first);
  for (const other of others) addInto(sum, other);
  while (sum.batches.length > MAX_BATCHES) sum.batches = joinPairs(sum.batches);
  return sum;
}

function copyOf(r: SimResult): SimResult {
  return {
    ...r,
    digests: [...r.digests],
    failures: { ...r.failures },
    skipped: { ...r.skipped },
    latency: r.latency.clone(),
    failedAfter: r.failedAfter.clone(),
    root: r.root.clone(),
    batches: r.batches.map((batch) => batch.clone()),
    servers: r.servers.map((server) => ({ ...server })),
    occupancy: r.occupancy === undefined ? undefined : structure(r.occupancy),
  };
}

const COUNTERS = [
  "runs",
  "callCount",
  "failedCount",
  "attemptCount",
  "hedgeCount",
  "hedgeWonCount",
  "retryCount",
  "rootFailedCount",
  "measuredMs",
  "inSystemMs",
  "sojournMs",
] as const;

function addInto(sum: SimResult, other: SimResult): void {
  checkOption(
    { servers: other.servers.length },
    `${sum.servers.length} servers, as in the first result`,
    other.servers.length === sum.servers.length,
  );
  for (const counter of COUNTERS) sum[counter] += other[counter];
  sum.digests.push(...other.digests);
  addCounts(sum.failures, other.failures);
  addCounts(sum.skipped, other.skipped);
  sum.latency.add(other.latency);
  sum.failedAfter.add(other.failedAfter);
  sum.root.add(other.root);
  sum.batches.push(...other.batches.map((batch) => batch.clone()));
  for (const [i, server] of sum.servers.entries()) {
    const more = other.servers[i] as ServerResult;
    server.sentCount += more.sentCount;
    server.startedCount += more.startedCount;
    server.busyMs += more.busyMs;
  }
  if (sum.occupancy === undefined || other.occupancy === undefined) return;
  addList(sum.occupancy.heldMs, other.occupancy.heldMs);
  addList(sum.occupancy.seenCount, other.occupancy.seenCount);
}

function addCounts(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(more)) sum[key] = (sum[key] ?? 0) + count;
}

function addList(sum: number[], more: readonly number[]): void {
  for (const [i, value] of more.entries()) sum[i] = (sum[i] ?? 0) + value;
}

function joinPairs(batches: readonly Histogram[]): Histogram[] {
  const joined: Histogram[] = [];
  for (let i = 0; i < batches.length; i += 2) {
    const pair = (batches[i] as Histogram).clone();
    const other = batches[i + 1];
    if (other !== undefined) pair.add(other);
    joined.push(pair);
  }
  return joined;
}

function structure(o: Occupancy): Occupancy {
  return { heldMs: [...o.heldMs], seenCount: [...o.seenCount] };
}
