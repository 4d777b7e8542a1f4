import { figureOf } from "./percentiles.ts";
import type { RunRecord } from "./run-record.ts";
import { meanRatePerSec } from "./run-setup.ts";

const HEAD = [
  "run",
  "planned_per_sec",
  "start_ms",
  "length_ms",
  "sent",
  "dropped",
  "infinite",
  "count",
  "p50_ms",
  "p90_ms",
  "p99_ms",
  "max_ms",
] as const;

/**
 * One line an interval, as in RFC 4180 but with line feeds. Percentiles are of the response times of the requests that were planned in
 * it and did not fail (those are in `infinite`); an empty field: the interval has too few.
 */
export function runsCsv(runs: readonly RunRecord[]): string {
  const lines = runs.flatMap((run, i) =>
    run.intervals.map(({ startMs, lengthMs, sent, dropped, infinite, all }) => [
      i + 1,
      rounded(meanRatePerSec(run.setup)),
      startMs,
      lengthMs,
      sent,
      dropped,
      infinite,
      all.count,
      ...[0.5, 0.9, 0.99].map((quantile) => {
        const figure = figureOf(all, quantile);
        return figure.kind === "known" ? rounded(figure.ms) : "";
      }),
      all.count === 0 ? "" : all.max / 1_000,
    ]),
  );
  return [HEAD, ...lines].map((fields) => `${fields.join(",")}\n`).join("");
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
