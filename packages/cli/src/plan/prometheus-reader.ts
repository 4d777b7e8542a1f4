import type { LatencyBucket } from "bobtail/plan";
import { CommandFailure } from "../terminal/failure.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import { isLatencyName } from "./latency-name.ts";
import { MS_PER_LATENCY_UNIT, unitOfName } from "./latency-unit.ts";

/** More bounds, or more histograms in one file, are another kind of file. */
const MAX_BOUNDS = 1_000;
const MAX_HISTOGRAMS = 1_000;

const BUCKET = /^([a-zA-Z_:][\w:]*)_bucket\{(.*)\}\s+(\S+)(?:\s+\S+)?(?:\s+#.*)?$/;
const LE = /(?:^|,)\s*le="([^"]*)"/;

/** Cumulative counts by bound, all label sets together. */
type Bounds = Map<number, { atMost: number; series: number }>;

/**
 * A histogram in the text exposition format: `le` buckets, summed over its label sets.
 *
 * The unit is that of the name (`..._seconds`) unless `--unit` says otherwise.
 */
export function prometheusReader(setup: ReaderSetup): LogReader {
  const histograms = new Map<string, Bounds>();
  return {
    line(text) {
      const found = BUCKET.exec(text);
      if (found === null) return;
      const [, name = "", labels = "", written = ""] = found;
      if (setup.options.field !== undefined && name !== bareName(setup.options.field)) return;
      addBucket(histograms, { name, labels, written }, setup);
    },
    end() {
      const [name, bounds] = choose(histograms, setup);
      setup.sink.addBuckets(toBuckets(name, bounds, setup));
    },
  };
}

function bareName(field: string): string {
  return field.replace(/_bucket$/, "");
}

function addBucket(
  histograms: Map<string, Bounds>,
  { name, labels, written }: { name: string; labels: string; written: string },
  { place }: ReaderSetup,
): void {
  const le = LE.exec(labels)?.[1];
  const bound = le === undefined ? Number.NaN : toNumber(le);
  const atMost = toNumber(written);
  if (Number.isNaN(bound))
    throw new CommandFailure(
      `${place()}: a bucket of ${name} without a bound`,
      'Each line needs le="...": this is no classic histogram.',
    );
  if (!(atMost >= 0 && atMost < Number.POSITIVE_INFINITY))
    throw new CommandFailure(
      `${place()}: a bucket of ${name} counts ${written}`,
      "A count is a number from 0 on. If this is a rate with gaps, take increase() over a time that has data.",
    );
  let bounds = histograms.get(name);
  if (bounds === undefined) {
    bounds = new Map();
    histograms.set(name, bounds);
  }
  const before = bounds.get(bound) ?? { atMost: 0, series: 0 };
  bounds.set(bound, { atMost: before.atMost + atMost, series: before.series + 1 });
  if (bounds.size > MAX_BOUNDS || histograms.size > MAX_HISTOGRAMS)
    throw new CommandFailure(`${place()}: too many buckets`, "Name one histogram with --field.");
}

function toNumber(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "" ? Number.NaN : Number(text);
}

function choose(
  histograms: Map<string, Bounds>,
  { place, options }: ReaderSetup,
): [string, Bounds] {
  const names = [...histograms.keys()];
  const likely = names.length === 1 ? names : names.filter(isLatencyName);
  const [name] = likely;
  if (likely.length === 1 && name !== undefined) return [name, histograms.get(name) as Bounds];
  if (names.length === 0)
    throw new CommandFailure(
      `${place()}: no histogram${options.field === undefined ? "" : ` named ${bareName(options.field)}`}`,
      'A classic histogram has lines such as http_request_duration_seconds_bucket{le="0.1"} 123. Summaries and native histograms hold no buckets.',
    );
  throw new CommandFailure(
    `${place()}: ${names.length} histograms: ${names.slice(0, 10).join(", ")}`,
    "Name one with --field.",
  );
}

function toBuckets(name: string, bounds: Bounds, { options, place }: ReaderSetup): LatencyBucket[] {
  const unit = options.unit ?? unitOfName(name);
  if (unit === undefined)
    throw new CommandFailure(`${place()}: ${name} states no unit`, "Say it with --unit.");
  const rising = [...bounds].sort(([a], [b]) => a - b);
  const series = rising[0]?.[1].series;
  let below = 0;
  let last = 0;
  const buckets: LatencyBucket[] = [];
  for (const [bound, { atMost, series: own }] of rising) {
    if (own !== series)
      throw new CommandFailure(
        `${place()}: the label sets of ${name} have different buckets`,
        "Leave one label set, or those with equal buckets, in the file.",
      );
    if (atMost < below)
      throw new CommandFailure(
        `${place()}: ${name}: fewer are at most ${bound} than at most ${last}`,
        "Buckets count everything up to their bound; this file counts otherwise, or was cut.",
      );
    last = bound;
    if (bound > 0)
      buckets.push({ upToMs: bound * MS_PER_LATENCY_UNIT[unit], count: atMost - below });
    below = atMost;
  }
  if (below === 0 || buckets.every((b) => b.count === 0 || b.upToMs === Number.POSITIVE_INFINITY))
    throw new CommandFailure(
      `${place()}: ${name} holds nothing below its last bound`,
      "Take it when there was traffic.",
    );
  return buckets;
}
