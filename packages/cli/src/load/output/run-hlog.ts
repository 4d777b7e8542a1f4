import type { Histogram } from "bobtail/engine";
import { HISTOGRAM_NAMES } from "../section-codec.ts";
import { encodeHdr } from "./hdr-encoder.ts";
import { CLOCK_TAGS, LOAD_SCHEMA, runJson } from "./run-json.ts";
import type { RunRecord } from "./run-record.ts";

/** Before the one comment that makes the log a whole report again. */
export const HLOG_HEADER = "#[Bobtail: ";

/**
 * A histogram log, V2, in microseconds. Without a tag: the response times by interval, given-up requests at their elapsed time.
 * With a tag: the other clocks, each as one interval over the whole run, and `warm-up:` before those of the warm-up. Failed and dropped
 * requests have no time and are in no series: a comment holds their counts, and the rest of the report.
 */
export function runHlog(run: RunRecord): string {
  const startSec = Date.parse(run.startedAt) / 1_000;
  const header = { schema: LOAD_SCHEMA, kind: "run", ...runJson(run, { histograms: false }) };
  const lines = [
    "#[Histogram log format version 1.3]",
    "#[Unit: us]",
    `#[StartTime: ${startSec.toFixed(3)} (seconds since epoch), ${run.startedAt}]`,
    `${HLOG_HEADER}${JSON.stringify(header)}]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ...run.intervals.map(({ startMs, lengthMs, all }) =>
      hlogLine("", { startMs, lengthMs, histogram: all }),
    ),
    ...HISTOGRAM_NAMES.filter((clock) => clock !== "all").map((clock) =>
      hlogLine(CLOCK_TAGS[clock], {
        startMs: 0,
        lengthMs: run.runMs,
        histogram: run.measured[clock],
      }),
    ),
    ...HISTOGRAM_NAMES.map((clock) =>
      hlogLine(`warm-up:${CLOCK_TAGS[clock]}`, {
        startMs: 0,
        lengthMs: run.warmupMs,
        histogram: run.warmup[clock],
      }),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function hlogLine(
  tag: string,
  { startMs, lengthMs, histogram }: { startMs: number; lengthMs: number; histogram: Histogram },
): string {
  // By convention the largest value is told in a thousand of the log's units: here ms.
  const max = histogram.count === 0 ? 0 : histogram.max / 1_000;
  const encoded = Buffer.from(encodeHdr(histogram)).toString("base64");
  const fields = [hlogPlace({ startMs, lengthMs }), max.toFixed(3), encoded];
  return `${tag === "" ? "" : `Tag=${tag},`}${fields.join(",")}`;
}

/** Start and length of an interval as its line begins, in seconds. */
export function hlogPlace({
  startMs,
  lengthMs,
}: {
  readonly startMs: number;
  readonly lengthMs: number;
}): string {
  return [startMs / 1_000, lengthMs / 1_000].map((value) => value.toFixed(3)).join(",");
}
