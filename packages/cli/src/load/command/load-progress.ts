import { showMs, showPercent } from "../../plan/figures.ts";
import { type StatusTarget, showSeconds, statusLine } from "../../terminal/status-line.ts";
import type { LoadRun } from "../load.ts";
import { failedCount, supportedQuantileMs } from "../load-report.ts";
import { showRate } from "../output/describe-run.ts";
import type { RunSetup } from "../output/run-setup.ts";

const LOOK_EVERY_MS = 200;

/** Shows how a run is going until the returned function is called. */
export function showProgress(
  run: Pick<LoadRun, "warmup" | "measured" | "elapsedMs">,
  setup: RunSetup,
  { target, label }: { readonly target: StatusTarget; readonly label: string },
): () => void {
  const line = statusLine(target, () => performance.now());
  const timer = setInterval(() => line.show(() => progressText(run, setup, label)), LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    line.end();
  };
}

export function progressText(
  run: Pick<LoadRun, "warmup" | "measured" | "elapsedMs">,
  { warmupMs, durationMs }: Pick<RunSetup, "warmupMs" | "durationMs">,
  label: string,
): string {
  const elapsedMs = run.elapsedMs();
  const leftMs = Math.max(0, warmupMs + durationMs - elapsedMs);
  const left = leftMs > 0 ? `${showSeconds(leftMs)} left` : "waiting for the last answers";
  if (elapsedMs < warmupMs) return `${label}: warming up, ${left}`;
  const { measured } = run;
  const { ledger } = measured;
  const perSec = (ledger.sent / Math.max(1, Math.min(elapsedMs - warmupMs, durationMs))) * 1_000;
  const [lag, p50, p99] = [
    supportedQuantileMs(measured.sendLag, 0.99),
    supportedQuantileMs(measured.all, 0.5),
    supportedQuantileMs(measured.all, 0.99),
  ].map((ms) => (ms === undefined ? "-" : showMs(ms)));
  const ended = ledger.sent + ledger.dropped;
  const failed = showPercent(ended === 0 ? 0 : failedCount(ledger) / ended);
  return `${label}: ${showRate(perSec)}, lag ${lag}, p50 ${p50}, p99 ${p99}, failed ${failed}, ${left}`;
}
