import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBobtailError } from "bobtail/engine";
import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { type LoadRun, startLoad } from "../load/load.ts";
import type { LoadOptions } from "../load/load-options.ts";
import { CommandFailure } from "../terminal/failure.ts";
import type { Measurement, Moment } from "./cell-figures.ts";
import { processCpuMs } from "./process-cpu.ts";
import type { ScenarioRun, ScriptedAct } from "./scenarios/scenario.ts";
import type { RunningTarget, TrialTarget } from "./targets/target.ts";

/** Of the fleet, unless a scenario says otherwise. */
export const HEALTH_PATH = "/healthz";
const TICK_EVERY_MS = 200;
/** A fleet outlives its cell by this at most, whatever becomes of us. */
const SPARE_LIFETIME_MS = 120_000;
/** Requests in flight beyond those that the timeout allows for at the mean rate. */
const SPARE_IN_FLIGHT = 512;
const MAX_IN_FLIGHT = 16_384;

/** One target before one sick fleet. */
export interface CellJob {
  readonly target: TrialTarget;
  /** Already stretched by `factor`. */
  readonly run: ScenarioRun;
  readonly meanMs: number;
  readonly factor: number;
  readonly signal: AbortSignal;
  /** About five times a second. `elapsedMs` counts from the start of the warm-up. */
  readonly onTick: (run: Pick<LoadRun, "measured" | "elapsedMs">) => void;
  /** The fleet is up, and the target too. Rejects with a `CommandFailure` for what keeps the cell from running. */
  readonly beforeLoad?: ((url: string, fleet: Fleet) => Promise<void>) | undefined;
}

export type CellOutcome =
  | {
      readonly kind: "measured" | "stopped";
      readonly measurement: Measurement;
      readonly config: string;
    }
  /** Stopped before anything was measured. */
  | { readonly kind: "nothing" }
  | { readonly kind: "not-started"; readonly why: string }
  | { readonly kind: "died"; readonly why: string; readonly config: string }
  /** Our own part failed: the fleet's process ended, or the script could not be played. */
  | { readonly kind: "broken"; readonly why: string };

/**
 * A fresh fleet in a process of its own, the target started before it, the load with the scripted acts, the
 * drain. Never rejects for what the target does; everything that was started has ended when it settles.
 */
export async function runCell(job: CellJob): Promise<CellOutcome> {
  if (job.signal.aborted) return { kind: "nothing" };
  const directory = await mkdtemp(join(tmpdir(), "bobtail-trial-"));
  let fleet: Fleet | undefined;
  let target: RunningTarget | undefined;
  try {
    try {
      fleet = await startFleet({ ...job.run.fleet, lifetimeMs: lifetimeOf(job.run) });
    } catch (error) {
      if (isBobtailError(error, "ERR_BOBTAIL_OPTION")) throw error;
      return { kind: "broken", why: `the fleet did not start: ${messageOf(error)}` };
    }
    try {
      const healthPath = job.run.fleet.healthPath ?? HEALTH_PATH;
      const { meanMs, signal } = job;
      target = await job.target.start(fleet.urls, { directory, healthPath, meanMs, signal });
      await job.beforeLoad?.(target.url, fleet);
    } catch (error) {
      if (job.signal.aborted) return { kind: "nothing" };
      if (error instanceof CommandFailure)
        return { kind: "not-started", why: [error.message, error.remedy].join(". ") };
      throw error;
    }
    return await measure(job, fleet, target);
  } finally {
    await target?.stop();
    await fleet?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lifetimeOf({ load }: ScenarioRun): number {
  return load.warmupMs + load.durationMs + load.timeoutMs + SPARE_LIFETIME_MS;
}

/** What may end a cell before its load does. */
type Ending =
  | { readonly kind: "died"; readonly why: string }
  | { readonly kind: "broken"; readonly why: string };

async function measure(job: CellJob, fleet: Fleet, target: RunningTarget): Promise<CellOutcome> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  job.signal.addEventListener("abort", abort, { once: true });
  if (job.signal.aborted) abort();
  const endings = new Endings(abort);
  const script = new ScriptPlayer(job.run.script, fleet, (why) =>
    endings.add({ kind: "broken", why }),
  );
  void fleet.ended.then(() => endings.add({ kind: "broken", why: "the fleet's process ended" }));
  let before = lookAt(fleet, target);
  const run = startLoad({
    ...loadOptionsOf(job.run, target.url),
    signal: stop.signal,
    onMeasure() {
      before = lookAt(fleet, target);
      before.catch(() => {});
      script.start();
    },
  });
  before.catch(() => {});
  const ticker = setInterval(() => {
    job.onTick(run);
    const how = stop.signal.aborted ? undefined : target.endedHow?.();
    if (how === undefined) return;
    const { ok } = run.measured.ledger;
    endings.add({ kind: "died", why: `it ended by itself after ${ok} answers, ${how}` });
  }, TICK_EVERY_MS);
  try {
    const load = await run.report;
    const { first } = endings;
    if (first !== undefined && !job.signal.aborted)
      return first.kind === "died" ? { ...first, config: target.config } : first;
    if (load.measured.ledger.sent === 0) return { kind: "nothing" };
    const { sick } = job.run;
    const { meanMs, factor } = job;
    const after = await lookAt(fleet, target);
    const measurement = { load, before: await before, after, sick, factor, meanMs };
    const kind = job.signal.aborted ? "stopped" : "measured";
    return { kind, measurement, config: target.config };
  } finally {
    clearInterval(ticker);
    endings.close();
    job.signal.removeEventListener("abort", abort);
    await script.end();
  }
}

/** The first thing that went wrong; it ends the load. */
class Endings {
  first: Ending | undefined;
  private readonly abort: () => void;
  private isClosed: boolean;

  constructor(abort: () => void) {
    this.first = undefined;
    this.abort = abort;
    this.isClosed = false;
  }

  add(ending: Ending): void {
    if (this.isClosed) return;
    this.first ??= ending;
    this.abort();
  }

  /** What ends from now on was asked to. */
  close(): void {
    this.isClosed = true;
  }
}

/** Plays the acts at their moments, one after the other where they overlap. */
class ScriptPlayer {
  private readonly acts: readonly ScriptedAct[];
  private readonly fleet: Fleet;
  private readonly failed: (why: string) => void;
  private readonly timers: NodeJS.Timeout[];
  private last: Promise<void>;

  constructor(acts: readonly ScriptedAct[], fleet: Fleet, failed: (why: string) => void) {
    this.acts = acts;
    this.fleet = fleet;
    this.failed = failed;
    this.timers = [];
    this.last = Promise.resolve();
  }

  start(): void {
    for (const { atMs, act } of this.acts) {
      const play = (): void => {
        this.last = this.last
          .then(() => act(this.fleet))
          .catch((error: unknown) => this.failed(`the script failed: ${messageOf(error)}`));
      };
      this.timers.push(setTimeout(play, atMs));
    }
  }

  /** Nothing is begun any more, and what was begun is over. */
  async end(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await this.last;
  }
}

function loadOptionsOf({ load }: ScenarioRun, url: string): LoadOptions {
  const { paths, ratePerSec, durationMs, warmupMs, timeoutMs, seed } = load;
  const inFlight = Math.ceil((ratePerSec * timeoutMs) / 1_000) + SPARE_IN_FLIGHT;
  return {
    targets: paths.map(({ path, weight }) => ({ url: `${url}${path}`, weight })),
    ratePerSec,
    durationMs,
    warmupMs,
    timeoutMs,
    seed,
    maxInFlight: Math.min(MAX_IN_FLIGHT, inFlight),
  };
}

async function lookAt(fleet: Fleet, { pid }: RunningTarget): Promise<Moment> {
  const atMs = performance.now();
  const targetCpuMs = pid === undefined ? undefined : processCpuMs(pid);
  return { atMs, fleet: await fleet.stats(), targetCpuMs };
}
