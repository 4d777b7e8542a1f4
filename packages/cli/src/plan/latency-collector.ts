import { seededRng } from "bobtail/engine";
import {
  type CensoredLatency,
  type Empirical,
  empirical,
  empiricalFromBuckets,
  empiricalFromCensored,
  empiricalFromHistogram,
  Histogram,
  type LatencyBucket,
  type LatencyPair,
} from "bobtail/plan";
import { CommandFailure } from "../terminal/failure.ts";
import type { LatencyLog, LatencySink, LogFormat, Place, Skip } from "./latency-log.ts";

/** Up to here every latency is kept; beyond, buckets of at most 1/128 of their value count them. */
const MAX_EXACT = 100_000;
/** Pairs cannot be counted in buckets; of more, a fair sample is kept. */
const MAX_PAIRS = 50_000;
const MAX_REASONS = 20;
const NS_PER_MS = 1e6;
/** One day, in nanoseconds. */
const MAX_NS = 8.64e13;

/** Gathers latencies in bounded memory, however many come. */
export class LatencyCollector implements LatencySink {
  private exact: number[] | undefined;
  private cut: number[];
  private readonly ended: Histogram;
  private readonly censored: Histogram;
  private buckets: LatencyBucket[] | undefined;
  private readonly pairs: LatencyPair[];
  private pairCount: number;
  private readonly skips: Map<string, { count: number; firstPlace: string }>;
  private readonly rng: ReturnType<typeof seededRng>;
  private readonly place: Place;

  constructor(place: Place) {
    this.exact = [];
    this.cut = [];
    this.ended = new Histogram({ maxValue: MAX_NS });
    this.censored = new Histogram({ maxValue: MAX_NS });
    this.buckets = undefined;
    this.pairs = [];
    this.pairCount = 0;
    this.skips = new Map();
    this.rng = seededRng(1);
    this.place = place;
  }

  get count(): number {
    return this.ended.count + this.censored.count;
  }

  add(ms: number): void {
    if (!this.check(ms)) return;
    this.ended.record(ms * NS_PER_MS);
    this.keep(this.exact, ms);
  }

  addMany(ms: number, count: number): void {
    if (!this.check(ms)) return;
    this.ended.record(ms * NS_PER_MS, count);
    if (this.exact === undefined) return;
    if (this.count > MAX_EXACT) this.compress();
    else for (let i = 0; i < count; i++) this.exact.push(ms);
  }

  addCensored(ms: number): void {
    if (!this.check(ms)) return;
    this.censored.record(ms * NS_PER_MS);
    this.keep(this.cut, ms);
  }

  addPair(pair: LatencyPair): void {
    if (!this.check(pair.backupMs)) return;
    this.pairCount++;
    if (this.pairs.length < MAX_PAIRS) {
      this.pairs.push(pair);
      return;
    }
    // Source: Vitter, "Random Sampling with a Reservoir", 1985, algorithm R.
    const slot = Math.floor(this.rng.next() * this.pairCount);
    if (slot < MAX_PAIRS) this.pairs[slot] = pair;
  }

  addBuckets(buckets: readonly LatencyBucket[]): void {
    const before = this.buckets;
    if (before === undefined) {
      this.buckets = [...buckets];
      return;
    }
    const isSame =
      before.length === buckets.length &&
      before.every((bucket, i) => bucket.upToMs === buckets[i]?.upToMs);
    if (!isSame)
      throw new CommandFailure(
        `${this.place()}: its buckets have other bounds than those of the file before`,
        "Plan for each file on its own: histograms of different bounds cannot be added.",
      );
    this.buckets = before.map((bucket, i) => ({
      upToMs: bucket.upToMs,
      count: bucket.count + (buckets[i]?.count ?? 0),
    }));
  }

  skip(reason: string): void {
    const key = this.skips.has(reason) || this.skips.size < MAX_REASONS ? reason : "other reasons";
    const seen = this.skips.get(key);
    if (seen === undefined) this.skips.set(key, { count: 1, firstPlace: this.place() });
    else seen.count++;
  }

  /** Fails when nothing usable was read. */
  finish(formats: readonly LogFormat[]): LatencyLog {
    const skips: Skip[] = [...this.skips].map(([reason, skip]) => ({ reason, ...skip }));
    const { buckets } = this;
    if (buckets !== undefined && this.count > 0)
      throw new CommandFailure(
        "latencies and histogram buckets cannot be mixed",
        "Plan for the Prometheus histogram on its own.",
      );
    if (buckets === undefined && this.ended.count === 0)
      throw nothingIn(skips, this.censored.count);
    return {
      latency: buckets === undefined ? this.law() : empiricalFromBuckets(buckets),
      count: Math.floor(buckets?.reduce((sum, bucket) => sum + bucket.count, 0) ?? this.count),
      censoredCount: this.censored.count,
      pairs: this.pairs,
      pairCount: this.pairCount,
      skips,
      formats,
      isCompressed: buckets === undefined && this.exact === undefined,
      bucketBounds: buckets?.filter((bucket) => bucket.upToMs < Number.POSITIVE_INFINITY).length,
    };
  }

  private law(): Empirical {
    if (this.exact !== undefined) {
      if (this.cut.length === 0) return empirical(this.exact);
      return empiricalFromCensored([
        ...this.exact.map((latencyMs) => ({ latencyMs, ended: true })),
        ...this.cut.map((latencyMs) => ({ latencyMs, ended: false })),
      ]);
    }
    if (this.censored.count === 0) return empiricalFromHistogram(this.ended, 1 / NS_PER_MS);
    return empiricalFromCensored([...counted(this.ended, true), ...counted(this.censored, false)]);
  }

  private keep(list: number[] | undefined, ms: number): void {
    if (this.exact === undefined || list === undefined) return;
    if (this.count > MAX_EXACT) this.compress();
    else list.push(ms);
  }

  private compress(): void {
    this.exact = undefined;
    this.cut = [];
  }

  private check(ms: number): boolean {
    if (ms >= 0 && ms * NS_PER_MS <= MAX_NS) return true;
    this.skip(Number.isNaN(ms) ? "not a number" : ms < 0 ? "negative" : "longer than a day");
    return false;
  }
}

function counted(histogram: Histogram, ended: boolean): CensoredLatency[] {
  const { valuesMs, cumulative } = empiricalFromHistogram(histogram, 1 / NS_PER_MS);
  return Array.from(valuesMs, (latencyMs, i) => ({
    latencyMs,
    ended,
    count: (cumulative[i] as number) - (i === 0 ? 0 : (cumulative[i - 1] as number)),
  }));
}

function nothingIn(skips: readonly Skip[], censoredCount: number): CommandFailure {
  if (censoredCount > 0)
    return new CommandFailure(
      `all ${censoredCount} latencies were cut short`,
      "Leave some calls uncancelled: what no call was seen to take cannot be planned for.",
    );
  if (skips.length === 0)
    return new CommandFailure(
      "nothing in it: no latency was found",
      "Name a log that holds at least one latency; --format says how it is written.",
    );
  const why = skips.map((skip) => `${skip.count} x ${skip.reason} (first at ${skip.firstPlace})`);
  return new CommandFailure(
    `no latency was found: ${why.join(", ")}`,
    "Check --format, --field and --unit.",
  );
}
