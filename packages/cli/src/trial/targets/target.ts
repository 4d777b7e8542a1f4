/** A balancer that a trial puts before the fleet: a real program in one configuration, started and stopped by us. */
export interface TrialTarget {
  /** As on the command line: "nginx/round-robin", "envoy/least-request+hedge", "bobtail". */
  readonly name: string;
  readonly title: string;
  /** What the targets of one program share: "nginx", "haproxy", "undici". */
  readonly family: string;
  /**
   * `default`: what one gets who names the backends and nothing else. `best`: the best that its manual offers
   * against a sick backend, as far as we know it.
   */
  readonly role?: "default" | "best";
  /** Limits, timeouts and checks that a reader of the figures must know; full sentences. */
  readonly notes: readonly string[];
  /** Never rejects; answers within seconds. */
  find(): Promise<FoundProgram | MissingProgram>;
  /** The configuration as it would be written; exact but for the port and the directory, which `start` chooses. */
  config(backends: readonly string[], place: TargetPlace): string;
  /**
   * Resolves when the program serves. Rejects with a `CommandFailure` that carries the program's own words; then nothing of it
   * is left.
   *
   * @param backends - `http://127.0.0.1:PORT`, each once.
   */
  start(backends: readonly string[], options: StartOptions): Promise<RunningTarget>;
}

export interface FoundProgram {
  /** As the program tells it, without its name: "1.22.1". */
  readonly version: string;
  readonly path: string;
}

export interface MissingProgram {
  readonly missing: string;
  /** How to install it, or how to say where it is. */
  readonly remedy: string;
}

export interface StartOptions {
  /** Exists; the target makes a fresh folder in it and removes that when it stops. Nothing is written elsewhere. */
  readonly directory: string;
  /** Answered 200 by every backend, sick or not; for targets with active health checks. */
  readonly healthPath: string;
  /** Of the balancer, on 127.0.0.1; default a free one. */
  readonly port?: number | undefined;
  /** Mean service time of a healthy backend, which hedge delays and timeouts follow; ms, default 20. */
  readonly meanMs?: number | undefined;
  /** Ends a start that is under way, and the program with it; no use once it serves. */
  readonly signal?: AbortSignal | undefined;
}

/** What a configuration depends on beside the backends. */
export interface TargetPlace {
  /** Of the balancer, on 127.0.0.1. */
  readonly port: number;
  readonly directory: string;
  readonly healthPath: string;
  /** As in {@link StartOptions}. */
  readonly meanMs?: number | undefined;
}

export interface RunningTarget {
  /** `http://127.0.0.1:PORT`; every path goes to the fleet. */
  readonly url: string;
  /** Of the balancer's main process; undefined where it is not ours (`--url`). */
  readonly pid: number | undefined;
  /** The exact text that the program was given. */
  readonly config: string;
  /** How the program ended by itself, and its last words; undefined while it runs. Absent where it is not ours. */
  endedHow?(): string | undefined;
  /** Ends every process of it and removes its folder. Never rejects; a second call waits for the first. */
  stop(): Promise<void>;
}
