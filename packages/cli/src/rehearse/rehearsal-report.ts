import type { Interval } from "bobtail/sim";
import { showCount, showInterval, showMs, showPercent, wrap } from "../plan/figures.ts";
import type { Palette } from "../terminal/palette.ts";
import { type Candidate, hasWeights, type RehearsedRow, type Stage } from "./rehearsal.ts";
import type { Trace } from "./trace.ts";

export interface RehearsalReport {
  readonly trace: Trace;
  readonly stage: Stage;
  readonly candidates: readonly Candidate[];
  readonly rows: readonly RehearsedRow[];
}

/** Shares of more servers than this are only in the JSON. */
const MAX_SHARES = 16;
const LATENCY_WIDTH = 24;

export function rehearsalText(report: RehearsalReport, palette: Palette): string {
  const { rows, stage } = report;
  const width = Math.max(6, ...rows.map(({ name }) => name.length));
  const titles = ["p50", "p99", "p99.9"].map((title) => title.padStart(LATENCY_WIDTH)).join("");
  const lines = [
    wrap(`${palette.bold("Rehearsal")} of ${setting(report)}`),
    "",
    palette.bold(`${"policy".padEnd(width)}${titles}    failed     extra      busy`),
  ];
  for (const row of rows) lines.push(rowText(row, width));
  const [first, ...others] = rows;
  if (first !== undefined && others.length > 0) {
    lines.push("", palette.bold(`against ${first.name}`));
    for (const row of others) lines.push(changeText(row, first, width));
  }
  lines.push("", ...sharesText(report, width));
  for (const note of notesOf(report)) lines.push("", wrap(note));
  if (stage.runs > 1)
    lines.push(
      "",
      wrap(
        `In brackets: where the mean over such runs is, with 95 % confidence, from ${stage.runs} runs of this trace with other luck. Another day's trace differs by more.`,
      ),
    );
  return `${lines.join("\n")}\n`;
}

function setting({ trace, stage, candidates }: RehearsalReport): string {
  const { atMs, sizeMs, measure } = trace;
  const spanMs = atMs.at(-1) ?? 0;
  const mean = sizeMs.reduce((sum, ms) => sum + ms, 0) / sizeMs.length;
  const counts = [...new Set(candidates.map(({ endpoints }) => endpoints.length))].join(" or ");
  const workers = stage.workers === "unlimited" ? "without limit" : `of ${stage.workers} workers`;
  const others = [...(stage.workersOf ?? [])].map(
    ([server, count]) => `, server ${server} ${count}`,
  );
  const slow = [...stage.slow].map(
    ([server, factor]) => `, server ${server} ${factor} times slower`,
  );
  return (
    `${showCount(atMs.length)} requests in ${showMs(spanMs)} (${showCount((atMs.length * 1000) / spanMs)} a second), ` +
    `${measure} ${showMs(mean)} on average, before ${counts} servers ${workers}${others.join("")}${slow.join("")}; ` +
    `the first ${showPercent(stage.warmUpRatio)} warm up.`
  );
}

function rowText(row: RehearsedRow, width: number): string {
  const { name, latencyMs, failedRatio, extraRatio, busyRatio } = row;
  const latencies = [latencyMs.p50, latencyMs.p99, latencyMs.p999].map(latencyText).join("");
  const ratios = [failedRatio, extraRatio, busyRatio].map(({ mean }) =>
    (Number.isNaN(mean) ? "-" : showPercent(mean)).padStart(10),
  );
  return `${name.padEnd(width)}${latencies}${ratios.join("")}`;
}

function latencyText(interval: Interval | undefined): string {
  if (interval === undefined || Number.isNaN(interval.mean))
    return "too few".padStart(LATENCY_WIDTH);
  const { mean, low, high } = interval;
  const text = Number.isNaN(low) ? showMs(mean) : `${showMs(mean)} ${showInterval(low, high)}`;
  return text.padStart(LATENCY_WIDTH);
}

function changeText(row: RehearsedRow, first: RehearsedRow, width: number): string {
  const { change } = row;
  const parts = [change?.p50, change?.p99, change?.p999].map((interval) =>
    changed(interval).padStart(LATENCY_WIDTH),
  );
  const extra = row.extraRatio.mean - first.extraRatio.mean;
  const failed = row.failedRatio.mean - first.failedRatio.mean;
  const ratios = [failed, extra].map((difference) => `${signed(difference * 100)} pt`.padStart(10));
  return `${row.name.padEnd(width)}${parts.join("")}${ratios.join("")}`;
}

function changed(interval: Interval | undefined): string {
  if (interval === undefined) return "-";
  const { mean, low, high } = interval;
  const ends = Number.isNaN(low) ? "" : ` [${signed(low * 100)}, ${signed(high * 100)}]`;
  return `${signed(mean * 100)} %${ends}`;
}

function signed(value: number): string {
  const text = value.toFixed(1);
  return value > 0 && text !== "0.0" ? `+${text}` : text.replace(/^-0\.0$/, "0.0");
}

function sharesText({ rows, candidates }: RehearsalReport, width: number): string[] {
  const most = Math.max(...rows.map(({ shareRatios }) => shareRatios.length));
  if (most > MAX_SHARES) return [`Shares of ${most} servers: see --json.`];
  const head = Array.from({ length: most }, (_, i) => `#${i}`.padStart(8)).join("");
  const shown = (name: string, shares: readonly number[]): string =>
    name.padEnd(width) + shares.map((share) => showPercent(share).padStart(8)).join("");
  return [
    `${"copies".padEnd(width)}${head}`,
    ...rows.flatMap(({ name, shareRatios }, i) => {
      const { endpoints = [] } = candidates[i] ?? {};
      const weights = endpoints.reduce((sum, { weight }) => sum + weight, 0);
      const asked = endpoints.map(({ weight }) => weight / weights);
      const line = shown(name, shareRatios);
      return hasWeights(endpoints) ? [line, shown("  asked", asked)] : [line];
    }),
  ];
}

/** What weights and virtual endpoints are rehearsed with: neither tells what a server can do. */
function endpointNotes({ stage, candidates }: RehearsalReport): string[] {
  const notes: string[] = [];
  if (candidates.some(({ endpoints }) => hasWeights(endpoints))) {
    if (stage.workers === "unlimited")
      notes.push(
        "Weights steer the copies here as they will then; without a queue no server is too small for its weight.",
      );
    else if (stage.workersOf === undefined)
      notes.push(
        `Weights steer the copies here as they will then, but they do not tell what a server can do: all have ${stage.workers} workers. Where a server is larger, say it: --workers-of 0=${2 * stage.workers}.`,
      );
  }
  if (candidates.some(({ endpoints }) => endpoints.some(({ virtual }) => virtual)))
    notes.push(
      "A virtual endpoint is one server here, with one queue and one speed: a second copy may go there again, but behind the real one it may meet another server.",
    );
  return notes;
}

/** What limits the rehearsal, in sentences. */
function notesOf(report: RehearsalReport): string[] {
  const { trace, stage } = report;
  const notes: string[] = [];
  if (stage.workers === "unlimited")
    notes.push(
      trace.measure === "latency"
        ? "Latencies hold their wait, so the servers here have no queue: hedges are judged, queues are not. With --workers-per-server and a trace of sizes, both are."
        : "The servers here have no queue: give --workers-per-server.",
    );
  else if (trace.measure === "latency")
    notes.push(
      "Latencies hold the wait that they met, and here they wait again: these figures are too high. A trace of sizes (the work alone) is exact.",
    );
  notes.push(
    stage.copies === "independent"
      ? "Each copy draws its own size from the trace: slowness that belongs to a request, and strikes every copy, is not seen."
      : "All copies of a request have its size, and only the server makes a difference.",
  );
  notes.push(...endpointNotes(report));
  for (const { reason, count, firstPlace } of trace.skips)
    notes.push(`Left out: ${showCount(count)} lines, ${reason} (first at ${firstPlace}).`);
  if (trace.isCut) notes.push(`Only the first ${showCount(trace.atMs.length)} requests are taken.`);
  return notes;
}

export function rehearsalJson(report: RehearsalReport): Record<string, unknown> {
  const { trace, stage, candidates, rows } = report;
  return {
    schema: "bobtail.rehearse/1",
    trace: {
      file: trace.file,
      requests: trace.atMs.length,
      span_ms: trace.atMs.at(-1),
      measure: trace.measure,
      time_field: trace.timeField,
      size_field: trace.sizeField,
      cut: trace.isCut,
      skipped: trace.skips,
    },
    stage: {
      workers: stage.workers,
      workers_of: Object.fromEntries(stage.workersOf ?? []),
      slow: Object.fromEntries(stage.slow),
      queue_timeout_ms: stage.queueTimeoutMs ?? null,
      copies: stage.copies,
      cancel: stage.cancel,
      warm_up_ratio: stage.warmUpRatio,
      runs: stage.runs,
      seed: stage.seed,
    },
    policies: rows.map((row, i) => ({
      file: row.name,
      servers: candidates[i]?.endpoints.length,
      endpoints: candidates[i]?.endpoints,
      latency_ms: byName(row.latencyMs),
      change_ratio: row.change === undefined ? null : byName(row.change),
      failed_ratio: plain(row.failedRatio),
      extra_ratio: plain(row.extraRatio),
      busy_ratio: plain(row.busyRatio),
      share_ratios: row.shareRatios,
    })),
  };
}

function byName(values: RehearsedRow["latencyMs"]): Record<string, unknown> {
  return { p50: plain(values.p50), p99: plain(values.p99), p999: plain(values.p999) };
}

/** JSON has no NaN: what is not known is null. */
function plain(interval: Interval | undefined): unknown {
  if (interval === undefined || Number.isNaN(interval.mean)) return null;
  const { mean, low, high } = interval;
  return Number.isNaN(low) ? { mean } : { mean, low, high };
}
