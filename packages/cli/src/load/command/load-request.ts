import { isBobtailError } from "bobtail/engine";
import { show } from "../../policy-file/units.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import type { LoadOptions, LoadTarget, RateSegment } from "../load-options.ts";
import { checkLoadOptions } from "../load-plan.ts";
import { type RunSetup, setupOf } from "../output/run-setup.ts";
import type { LoadFlags } from "./load-flags.ts";
import type { Moments } from "./read-moments.ts";
import { readCertificates, readTargets } from "./read-targets.ts";
import { pinTargets } from "./target-addresses.ts";

const DEFAULT_PER_SEC = 50;
const DEFAULT_DURATION_MS = 10_000;
const MIN_WARMUP_MS = 5_000;
const WARMUP_RATIO = 0.1;

/** A run that may be started: its options are checked, its target is allowed, and its addresses are pinned. */
export interface LoadRequest {
  readonly options: LoadOptions;
  readonly setup: RunSetup;
}

/** From the command line. Throws a {@link CommandFailure} for what means nothing or is not allowed. */
export async function readRequest(urls: readonly string[], flags: LoadFlags): Promise<LoadRequest> {
  checkTogether(flags);
  const trace = await readTrace(flags);
  const targets = withPaths(readTargets(urls, flags), trace?.paths ?? new Map());
  const timing =
    trace === undefined
      ? readTiming(flags)
      : { plannedMs: trace.plannedMs, durationMs: flags.duration };
  const { warmupMs, reason } = warmupOf(flags, timing);
  const addresses = await pinTargets(
    targets.map(({ url }) => url),
    flags.iOwnThis === true,
  );
  const options: LoadOptions = {
    targets,
    addresses,
    ...timing,
    warmupMs,
    arrivals: flags.arrivals,
    seed: flags.seed,
    timeoutMs: flags.timeout,
    maxInFlight: flags.maxInFlight,
    connections: flags.connections,
    workers: flags.workers,
    protocol: flags.http2 === true ? "http2" : "http1",
    sse: flags.sse,
    tls: {
      insecure: flags.insecure,
      ...(flags.ca !== undefined && { ca: readCertificates(flags.ca) }),
    },
  };
  return requestOf(options, reason);
}

/** The same requests at one rate: of a sweep, or of a search for the limit. */
export function atRate(
  { options }: LoadRequest,
  run: {
    readonly ratePerSec: number;
    readonly durationMs: number;
    readonly warmupMs: number;
    readonly warmupReason: string;
  },
): LoadRequest {
  const { ratePerSec, durationMs, warmupMs, warmupReason } = run;
  return requestOf(
    { ...options, profile: undefined, plannedMs: undefined, ratePerSec, durationMs, warmupMs },
    warmupReason,
  );
}

function requestOf(options: LoadOptions, warmupReason: string): LoadRequest {
  let setup: RunSetup;
  try {
    setup = setupOf(checkLoadOptions(options), warmupReason);
  } catch (error) {
    if (isBobtailError(error, "ERR_BOBTAIL_OPTION"))
      throw new CommandFailure(error.message, "`bobtail load --help` has each option's range.");
    throw error;
  }
  if (setup.plannedCount === 0)
    throw new CommandFailure(
      `at this rate no request is planned in ${setup.durationMs} ms`,
      "Raise --rate or --duration.",
    );
  return { options, setup };
}

type Timing = Pick<LoadOptions, "ratePerSec" | "durationMs" | "profile" | "plannedMs">;

async function readTrace(flags: LoadFlags): Promise<Moments | undefined> {
  if (flags.trace === undefined) return undefined;
  const { readMoments } = await import("./read-moments.ts");
  return readMoments(flags.trace, flags);
}

/** Each path of a trace on each target, as often as the trace asks for it. */
function withPaths(
  targets: readonly LoadTarget[],
  paths: ReadonlyMap<string, number>,
): readonly LoadTarget[] {
  if (paths.size === 0) return targets;
  return targets.flatMap((target) =>
    [...paths].map(([path, count]) => {
      if (!URL.canParse(path, target.url))
        throw new CommandFailure(`the trace asks for ${show(path)}, which is no path`, "Mend it.");
      const { pathname, search } = new URL(path, target.url);
      // The trace's paths alone: its hosts are not where this load may go.
      const url = new URL(target.url);
      url.pathname = pathname.replace(/^[/\\]+/, "/");
      url.search = search;
      return { ...target, url: url.href, weight: (target.weight ?? 1) * count };
    }),
  );
}

function readTiming(flags: LoadFlags): Timing {
  const { rate, steps, duration = DEFAULT_DURATION_MS } = flags;
  if (steps !== undefined) {
    const durationMs = duration / steps.length;
    return { profile: steps.map((perSec) => constant(perSec, durationMs)) };
  }
  const { fromPerSec, toPerSec } = rate ?? {
    fromPerSec: DEFAULT_PER_SEC,
    toPerSec: DEFAULT_PER_SEC,
  };
  return fromPerSec === toPerSec
    ? { ratePerSec: fromPerSec, durationMs: duration }
    : { profile: [{ fromPerSec, toPerSec, durationMs: duration }] };
}

function constant(perSec: number, durationMs: number): RateSegment {
  return { fromPerSec: perSec, toPerSec: perSec, durationMs };
}

/** What is sent before the measuring, and why so much: connections, caches and compilers settle in it. */
function warmupOf(
  { warmup }: LoadFlags,
  timing: Timing,
): { readonly warmupMs: number; readonly reason: string } {
  if (warmup !== undefined) return { warmupMs: warmup, reason: "as asked" };
  if (timing.profile?.[0]?.fromPerSec === 0)
    return { warmupMs: 0, reason: "a ramp from rest is its own" };
  const profileMs = timing.profile?.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const durationMs =
    timing.durationMs ?? profileMs ?? timing.plannedMs?.at(-1) ?? DEFAULT_DURATION_MS;
  const share = Math.round(durationMs * WARMUP_RATIO);
  return share > MIN_WARMUP_MS
    ? { warmupMs: share, reason: "10 % of the duration" }
    : { warmupMs: MIN_WARMUP_MS, reason: "5 s, or 10 % of the duration if that is more" };
}

function checkTogether(flags: LoadFlags): void {
  const timings = [
    ["--rate", flags.rate],
    ["--steps", flags.steps],
    ["--trace", flags.trace],
    ["--sweep", flags.sweep],
  ] as const;
  const [one, other] = timings.filter(([, value]) => value !== undefined);
  if (one !== undefined && other !== undefined)
    throw new CommandFailure(
      `${one[0]} and ${other[0]} both say when to send`,
      "Give one of them.",
    );
  const only = ["--steps", "--trace", "--sweep"].find((name) => name === one?.[0]);
  if (flags.findLimit !== undefined && only !== undefined)
    throw new CommandFailure(
      `--find-limit and ${only}: the search chooses the rates`,
      "Give --rate, which it begins with, or none.",
    );
  const isSearch = flags.findLimit !== undefined || flags.sweep !== undefined;
  if (flags.findLimit !== undefined && flags.rate?.fromPerSec !== flags.rate?.toPerSec)
    throw new CommandFailure("--find-limit needs one rate to begin with", "Write --rate 100.");
  if (isSearch && flags.failIf !== undefined && flags.findLimit !== undefined)
    throw new CommandFailure(
      "--find-limit and --fail-if: the objective is the condition",
      "Give one of them.",
    );
  checkConnections(flags);
  for (const name of ["timeField", "timeUnit"] as const) {
    if (flags[name] !== undefined && flags.trace === undefined)
      throw new CommandFailure(
        `--${name === "timeField" ? "time-field" : "time-unit"} needs --trace`,
        "Give --trace FILE too.",
      );
  }
}

function checkConnections({ connections, maxInFlight, workers }: LoadFlags): void {
  if (connections !== undefined && maxInFlight !== undefined && connections > maxInFlight)
    throw new CommandFailure(
      `--connections ${connections}: at most --max-in-flight ${maxInFlight} of them would be used`,
      `Write --connections ${maxInFlight} or less, or raise --max-in-flight.`,
    );
  const least = connections ?? maxInFlight ?? Number.POSITIVE_INFINITY;
  if (workers !== undefined && least < workers)
    throw new CommandFailure(
      `--workers ${workers}: each takes a connection of its own, and there are ${least}`,
      `Write --workers ${least} or less, or raise --${connections === undefined ? "max-in-flight" : "connections"}.`,
    );
}
