import { Histogram } from "bobtail/engine";
import { decodeHdr, HdrError } from "../../plan/hdr-decoder.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import type { LoadInterval, LoadSection } from "../load-report.ts";
import { HISTOGRAM_NAMES } from "../section-codec.ts";
import { intervalDisagreement, sectionDisagreement } from "./accounts.ts";
import { parseJsonFile } from "./json-field.ts";
import { readInterval, readIntervals, readRunHead } from "./read-run-json.ts";
import { HLOG_HEADER, hlogPlace } from "./run-hlog.ts";
import { CLOCK_TAGS, LOAD_SCHEMA } from "./run-json.ts";
import type { RunRecord } from "./run-record.ts";

const REMEDY =
  "It may have been cut or edited: copy it again. `bobtail plan` reads the logs of other programs.";

/**
 * A histogram log that `bobtail load --out FILE.hlog` wrote, as the report that it is of. Its times have three digits.
 *
 * Throws a {@link CommandFailure} with place and reason; also for logs of other programs, which do not say what failed.
 */
export function parseRunHlog(file: string, text: string): RunRecord {
  const lines = text.split(/\r?\n/);
  const header = lines.find((line) => line.startsWith(HLOG_HEADER));
  if (header === undefined)
    throw new CommandFailure(
      `${file}: no comment of \`bobtail load\` in it, so nobody knows what failed and what was planned`,
      REMEDY,
    );
  const field = parseJsonFile(file, header.slice(HLOG_HEADER.length, -1));
  field.at("schema").oneOf(LOAD_SCHEMA);
  const run = readRunHead(field);
  const counts = readIntervals(field, run.runMs, readInterval);
  const series = readSeries(file, lines);
  const untagged = series.get("") ?? [];
  if (untagged.length !== counts.length)
    throw new CommandFailure(
      `${file}: ${untagged.length} intervals without a tag, where ${counts.length} were written`,
      REMEDY,
    );
  checkPlaces(file, lines, counts.map(hlogPlace));
  const intervals = counts.map(
    (interval, i): LoadInterval => ({ ...interval, all: untagged[i] ?? new Histogram() }),
  );
  for (const { all } of intervals) run.measured.all.add(all);
  fill(run.measured, series, "");
  fill(run.warmup, series, "warm-up:");
  const wrong =
    sectionDisagreement(run.measured) ??
    sectionDisagreement(run.warmup) ??
    intervalDisagreement(run.measured, intervals);
  if (wrong !== undefined)
    throw new CommandFailure(
      `${file}: its histograms do not hold what its ledger counts: ${wrong.of}: ${wrong.reason}`,
      REMEDY,
    );
  return { ...run, intervals };
}

/** Other programs know the intervals by their lines, and this one by the comment: both must say the same. */
function checkPlaces(file: string, lines: readonly string[], places: readonly string[]): void {
  let count = 0;
  for (const [i, line] of lines.entries()) {
    if (!isData(line) || line.startsWith("Tag=")) continue;
    const place = places[count++] ?? "";
    if (line.startsWith(`${place},`)) continue;
    const found = line.split(",", 2).join(",");
    throw new CommandFailure(
      `${file}:${i + 1}: start and length are ${found}, and ${place} in its comment`,
      REMEDY,
    );
  }
}

function isData(line: string): boolean {
  return line !== "" && !line.startsWith("#") && !line.startsWith('"');
}

function fill(
  section: LoadSection,
  series: ReadonlyMap<string, readonly Histogram[]>,
  prefix: string,
): void {
  for (const clock of HISTOGRAM_NAMES)
    for (const part of series.get(`${prefix}${CLOCK_TAGS[clock]}`) ?? []) section[clock].add(part);
}

/** By tag; "" has none. */
function readSeries(file: string, lines: readonly string[]): Map<string, Histogram[]> {
  const series = new Map<string, Histogram[]>();
  for (const [i, line] of lines.entries()) {
    if (!isData(line)) continue;
    const parts = line.split(",");
    const first = parts[0] ?? "";
    const tag = first.startsWith("Tag=") ? first.slice(4) : "";
    const histogram = readHistogram(`${file}:${i + 1}`, parts[tag === "" ? 3 : 4] ?? "");
    const known = series.get(tag);
    if (known === undefined) series.set(tag, [histogram]);
    else known.push(histogram);
  }
  return series;
}

function readHistogram(place: string, encoded: string): Histogram {
  const histogram = new Histogram();
  try {
    decodeHdr(Buffer.from(encoded, "base64"), (value, count) => histogram.record(value, count));
  } catch (error) {
    if (!(error instanceof HdrError)) throw error;
    throw new CommandFailure(`${place}: the histogram is corrupt: ${error.message}`, REMEDY);
  }
  return histogram;
}
