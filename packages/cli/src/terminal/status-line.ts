const LIVE_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;

/** What a status line is written to: `process.stderr`, or what a test gives. */
export interface StatusTarget {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface StatusLine {
  /** @param text - called only when the line is due. */
  show(text: () => string): void;
  /** Leaves no half line behind. */
  end(): void;
}

/** How far the work is: a line that is rewritten on a terminal, one every ten seconds elsewhere. */
export function statusLine(target: StatusTarget, nowMs: () => number): StatusLine {
  let shownAtMs = nowMs();
  let isOpen = false;
  return {
    show(text) {
      const now = nowMs();
      if (now - shownAtMs < (target.isTTY === true ? LIVE_EVERY_MS : PLAIN_EVERY_MS)) return;
      shownAtMs = now;
      if (target.isTTY === true) {
        target.write(`\r\u001b[2K${text().slice(0, (target.columns ?? 80) - 1)}`);
        isOpen = true;
      } else target.write(`${text()}\n`);
    },
    end() {
      if (isOpen) target.write("\r\u001b[2K");
      isOpen = false;
    },
  };
}

/** `8 s`, `3 min`: whole, and rounded up where it is short. */
export function showSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
