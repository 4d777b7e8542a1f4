import type { RunRecord, SweepRecord } from "../output/run-record.ts";
import { atRate, type LoadRequest } from "./load-request.ts";
import { pastSaturation } from "./saturation.ts";

/** Runs a request at a rate; what it looks like to the user is the caller's. */
export type RunAt = (
  request: LoadRequest,
  place: { readonly index: number; readonly ratePerSec: number },
) => Promise<RunRecord>;

const LATER_WARMUP_MS = 2_000;

/**
 * Latency against rate, one run for each, from the lowest. It ends early where more rows would say nothing: the
 * generator could not keep up, or the target is past saturation, where latency is a matter of how long one waits.
 */
export async function sweep(
  request: LoadRequest,
  rates: readonly number[],
  {
    runAt,
    onRow,
    signal,
  }: {
    readonly runAt: RunAt;
    readonly onRow: (run: RunRecord) => void;
    readonly signal: AbortSignal;
  },
): Promise<SweepRecord> {
  const runs: RunRecord[] = [];
  const { durationMs, warmupMs, warmupReason } = request.setup;
  for (const [index, ratePerSec] of rates.entries()) {
    // The first run warms the target up; the later ones open the connections that their rate needs.
    const isShort = index > 0 && warmupMs > LATER_WARMUP_MS;
    const row = atRate(request, {
      ratePerSec,
      durationMs,
      warmupMs: isShort ? LATER_WARMUP_MS : warmupMs,
      warmupReason: isShort ? "2 s after the first run of a sweep" : warmupReason,
    });
    let run = await runAt(row, { index, ratePerSec });
    // Once more: the generator's machine may have had other work for a moment.
    if (isLimited(run) && !signal.aborted) run = await runAt(row, { index, ratePerSec });
    runs.push(run);
    onRow(run);
    const stopped = signal.aborted ? "stopped by a signal" : stopOf(runs);
    if (stopped !== undefined && (index < rates.length - 1 || signal.aborted))
      return { kind: "sweep", runs, stopped };
  }
  return { kind: "sweep", runs, stopped: undefined };
}

function isLimited({ check }: RunRecord): boolean {
  return check.verdict === "generator-limited";
}

function stopOf(runs: readonly RunRecord[]): string | undefined {
  const [first, run, before] = [runs[0], runs.at(-1), runs.at(-2)];
  if (run === undefined || first === undefined) return undefined;
  // Late sends may be the machine's other work and pass with it; dropped ones, or two such rows, are the rate's doing.
  const wasLimited = before !== undefined && isLimited(before);
  if (isLimited(run) && (run.measured.ledger.dropped > 0 || wasLimited))
    return "the generator could not keep up, and higher rates would measure it and not the target";
  return pastSaturation(run, first);
}
