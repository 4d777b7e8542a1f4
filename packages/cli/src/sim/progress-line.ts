const LIVE_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;

export interface SimProgress {
  readonly doneRuns: number;
  readonly totalRuns: number;
  /** Share of the requests that are done, in [0, 1]. */
  readonly doneRatio: number;
}

export interface ProgressLine {
  show(progress: SimProgress): void;
  /** Leaves no half line behind. */
  end(): void;
}

/** How far the runs are: a line that is rewritten on a terminal, one every ten seconds elsewhere. */
export function progressLine(
  target: {
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
    write(text: string): unknown;
  },
  nowMs: () => number,
): ProgressLine {
  const startMs = nowMs();
  let shownAtMs = startMs;
  let isOpen = false;
  return {
    show({ doneRuns, totalRuns, doneRatio }) {
      const now = nowMs();
      if (now - shownAtMs < (target.isTTY === true ? LIVE_EVERY_MS : PLAIN_EVERY_MS)) return;
      shownAtMs = now;
      const leftMs = doneRatio > 0 ? ((now - startMs) * (1 - doneRatio)) / doneRatio : undefined;
      const left = leftMs === undefined ? "" : `, about ${showSeconds(leftMs)} left`;
      const text = `sim: ${doneRuns} of ${totalRuns} runs, ${Math.floor(doneRatio * 100)} %${left}`;
      if (target.isTTY === true) {
        target.write(`\r\u001b[2K${text.slice(0, (target.columns ?? 80) - 1)}`);
        isOpen = true;
      } else target.write(`${text}\n`);
    },
    end() {
      if (isOpen) target.write("\r\u001b[2K");
      isOpen = false;
    },
  };
}

function showSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
