import { EXIT } from "./failure.ts";

export interface Stop {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Signals do what they did before. */
  release(): void;
}

/** The first signal asks the work to end with what it has and sets the exit code; the second one leaves at once. */
export function stopOnSignal(): Stop {
  const stop = new AbortController();
  const onSignal = (code: number): void => {
    process.exitCode = code;
    if (stop.signal.aborted) process.exit();
    stop.abort();
  };
  const onInterrupt = (): void => onSignal(EXIT.interrupted);
  const onTerminate = (): void => onSignal(EXIT.terminated);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return {
    signal: stop.signal,
    release() {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
    },
  };
}
