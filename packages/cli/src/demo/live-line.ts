import type { DemoProgress } from "./demo-options.ts";
import { milliseconds, percent } from "./demo-text.ts";

const PLAIN_EVERY_MS = 10_000;

/** Where the run stands, on a stream that is not the result's. */
export interface LiveLine {
  show(progress: DemoProgress): void;
  /** Leaves no half line behind. */
  end(): void;
}

export interface LiveLineTarget {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** On a terminal one line that is rewritten; elsewhere one line every ten seconds and one at each new phase. */
export function liveLine(target: LiveLineTarget): LiveLine {
  let label = "";
  let shownAtMs = 0;
  let isOpen = false;
  return {
    show(progress) {
      const text = progressText(progress);
      if (target.isTTY === true) {
        target.write(`\r\u001b[2K${text.slice(0, (target.columns ?? 80) - 1)}`);
        isOpen = true;
        return;
      }
      const isNew = progress.label !== label;
      if (!isNew && progress.elapsedMs - shownAtMs < PLAIN_EVERY_MS) return;
      label = progress.label;
      shownAtMs = progress.elapsedMs;
      target.write(`${text}\n`);
    },
    end() {
      if (isOpen) target.write("\r\u001b[2K");
      isOpen = false;
    },
  };
}

function progressText(progress: DemoProgress): string {
  const { label, elapsedMs, totalMs, warmingUp } = progress;
  const seconds = `${Math.floor(elapsedMs / 1_000)}/${Math.round(totalMs / 1_000)} s`;
  if (warmingUp) return `${label}  ${seconds}  warming up`;
  return [
    label,
    seconds,
    `p50 ${milliseconds(progress.p50Ms)}`,
    `p99 ${milliseconds(progress.p99Ms)}`,
    `failed ${percent(progress.failedRatio)}`,
    `to slow backend ${percent(progress.slowShareRatio)}`,
  ].join("  ");
}
