import { type StatusTarget, showSeconds, statusLine } from "../terminal/status-line.ts";

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

/** How far the runs are, on a {@link statusLine}. */
export function progressLine(target: StatusTarget, nowMs: () => number): ProgressLine {
  const startMs = nowMs();
  const line = statusLine(target, nowMs);
  return {
    show({ doneRuns, totalRuns, doneRatio }) {
      line.show(() => {
        const passedMs = nowMs() - startMs;
        const leftMs = doneRatio > 0 ? (passedMs * (1 - doneRatio)) / doneRatio : undefined;
        const left = leftMs === undefined ? "" : `, about ${showSeconds(leftMs)} left`;
        return `sim: ${doneRuns} of ${totalRuns} runs, ${Math.floor(doneRatio * 100)} %${left}`;
      });
    },
    end: () => line.end(),
  };
}
