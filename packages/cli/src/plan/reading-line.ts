import { showCount } from "./figures.ts";
import type { ReadingProgress } from "./read-latencies.ts";

const LIVE_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;

export interface ReadingLine {
  show(progress: ReadingProgress): void;
  /** Leaves no half line behind. */
  end(): void;
}

/** How far the reading is: a line that is rewritten on a terminal, one every ten seconds elsewhere. */
export function readingLine(
  target: {
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
    write(text: string): unknown;
  },
  nowMs: () => number,
): ReadingLine {
  let shownAtMs = nowMs();
  let isOpen = false;
  return {
    show({ file, lines, bytes, latencies }) {
      const every = target.isTTY === true ? LIVE_EVERY_MS : PLAIN_EVERY_MS;
      const now = nowMs();
      if (now - shownAtMs < every) return;
      shownAtMs = now;
      const text = `${file}: ${showCount(lines)} lines, ${showCount(bytes / 1e6)} MB, ${showCount(latencies)} latencies`;
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
