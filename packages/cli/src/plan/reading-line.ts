import { type StatusTarget, statusLine } from "../terminal/status-line.ts";
import { showCount } from "./figures.ts";
import type { ReadingProgress } from "./read-latencies.ts";

export interface ReadingLine {
  show(progress: ReadingProgress): void;
  /** Leaves no half line behind. */
  end(): void;
}

/** How far the reading is, on a {@link statusLine}. */
export function readingLine(target: StatusTarget, nowMs: () => number): ReadingLine {
  const line = statusLine(target, nowMs);
  return {
    show({ file, lines, bytes, latencies }) {
      line.show(
        () =>
          `${file}: ${showCount(lines)} lines, ${showCount(bytes / 1e6)} MB, ${showCount(latencies)} latencies`,
      );
    },
    end: () => line.end(),
  };
}
