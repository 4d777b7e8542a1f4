import { EXIT } from "./failure.ts";

/** `timeout` and some supervisors signal a process and then its group: the second one comes at once and means no more. */
const SAME_REQUEST_MS = 500;

export interface Stop {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Signals do what they did before, unless one has come: what is left to print is not to be lost to its echo. */
  release(): void;
}

/** The first signal asks the work to end with what it has and sets the exit code; one that comes later leaves at once. */
export function stopOnSignal(now: () => number = () => performance.now()): Stop {
  const stop = new AbortController();
  let askedAtMs = 0;
  const onSignal = (code: number): void => {
    if (stop.signal.aborted && now() - askedAtMs < SAME_REQUEST_MS) return;
    process.exitCode = code;
    if (stop.signal.aborted) process.exit();
    askedAtMs = now();
    stop.abort();
  };
  const onInterrupt = (): void => onSignal(EXIT.interrupted);
  const onTerminate = (): void => onSignal(EXIT.terminated);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return {
    signal: stop.signal,
    release() {
      if (stop.signal.aborted) return;
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
    },
  };
}
