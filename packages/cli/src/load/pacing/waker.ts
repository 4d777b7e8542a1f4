/** Wakes a sender when requests are due. It may wake it for nothing, and does not wake it early for good. */
export interface Waker {
  /** When the next one is due, on the monotonic clock, and its ordinal; told after each wake and before the first. */
  sleepUntil(atMs: number, ordinal: number): void;
  stop(): void;
}

export type WakerFactory = (wake: () => void) => Waker;

/** The longest delay that a timer of Node takes. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The sender's own timers: whole milliseconds, half of one late on average. */
export function timerWaker(clockMs: () => number): WakerFactory {
  return (wake) => {
    let timer: NodeJS.Timeout | undefined;
    return {
      sleepUntil(atMs) {
        clearTimeout(timer);
        if (atMs === Number.POSITIVE_INFINITY) return;
        const delayMs = Math.min(MAX_TIMER_MS, Math.max(1, Math.floor(atMs - clockMs())));
        timer = setTimeout(wake, delayMs);
      },
      stop: () => clearTimeout(timer),
    };
  };
}
