import { type Command, Option } from "commander";
import { LATENCY_UNITS, type LatencyUnit } from "../plan/latency-unit.ts";
import { ratioIn } from "../plan/plan-flags.ts";
import { CommandFailure } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import type { Candidate, Stage } from "./rehearsal.ts";
import { countFlag, durationFlag, slowFlag, workersOfFlag } from "./stage-flags.ts";
import type { Trace } from "./trace.ts";

/** Options of `bobtail sim --policy FILE --trace FILE`. */
export interface RehearseOptions {
  readonly policy: readonly string[];
  readonly trace: string;
  readonly service?: string | undefined;
  readonly timeField?: string | undefined;
  readonly sizeField?: string | undefined;
  readonly timeUnit?: LatencyUnit | undefined;
  readonly timeAt?: "start" | "end" | undefined;
  readonly unit?: LatencyUnit | undefined;
  readonly servers?: number | undefined;
  readonly workersPerServer?: number | undefined;
  readonly workersOf?: ReadonlyMap<number, number> | undefined;
  readonly slow?: ReadonlyMap<number, number> | undefined;
  readonly queueTimeout?: number | undefined;
  readonly copies?: "same-size" | "independent" | undefined;
  readonly cancel?: "none" | "queued" | "running" | undefined;
  /** Share of the requests, the first ones, that is not measured; in [0, 0.9], default 0.1. */
  readonly warmUp?: number | undefined;
  /** A whole number in [1, 1,000], default 5. */
  readonly runs?: number | undefined;
  /** A whole number, default 1. */
  readonly seed?: number | undefined;
  readonly json?: boolean | undefined;
}

/** As the command line gives them: none of them, or a rehearsal. */
export type RehearseFlags = Partial<RehearseOptions>;

const OWN_FLAGS: Readonly<Partial<Record<keyof RehearseOptions, string>>> = {
  service: "--service",
  timeField: "--time-field",
  sizeField: "--size-field",
  timeUnit: "--time-unit",
  timeAt: "--time-at",
  unit: "--unit",
  servers: "--servers",
  workersPerServer: "--workers-per-server",
  workersOf: "--workers-of",
  slow: "--slow",
  queueTimeout: "--queue-timeout",
  copies: "--copies",
  cancel: "--cancel",
  warmUp: "--warm-up",
};

const DEFAULT_RUNS = 5;
const WARM_UP_RATIO = 0.1;

export const REHEARSE_HELP = `
Rehearsals of policy files against recorded traffic:
  bobtail sim --policy bobtail.yaml --trace requests.csv --workers-per-server 4
  bobtail sim --policy today.yaml new.yaml --trace access.jsonl --time-at end --slow 0=5
`;

/** Adds what a rehearsal takes beside `--runs`, `--seed` and `--json`, which the command has. */
export function addRehearseOptions(command: Command): void {
  command
    .option("--policy <file...>", "rehearse these policy files, each compared with the first")
    .option("--trace <file>", "recorded requests, CSV or JSON lines; - reads standard input")
    .option("--service <name>", "which service of the policy file; default its only one")
    .option("--time-field <name>", "column or field of the arrival; default by its name")
    .option("--size-field <name>", "column or field of the size or latency; default by its name")
    .addOption(
      new Option("--time-unit <unit>", "of arrivals that are numbers").choices(LATENCY_UNITS),
    )
    .addOption(
      new Option(
        "--time-at <moment>",
        "what the time is: of the arrival, or of the answer",
      ).choices(["start", "end"]),
    )
    .addOption(new Option("--unit <unit>", "of sizes or latencies").choices(LATENCY_UNITS))
    .option("--servers <n>", "servers; default the policy's endpoints", countFlag)
    .option(
      "--workers-per-server <n>",
      "requests that a server serves at one time; default no limit, so no queue",
      countFlag,
    )
    .option(
      "--workers-of <server=n>",
      "a server of another size, as 0=8; may be repeated",
      workersOfFlag,
    )
    .option("--slow <server=factor>", "a slow server, as 0=5; may be repeated", slowFlag)
    .option(
      "--queue-timeout <duration>",
      "a request that waited this long at a server is answered with an error",
      durationFlag,
    )
    .addOption(
      new Option(
        "--copies <how>",
        "copies of a request have its size, or draw from the trace; default same-size for sizes, independent for latencies",
      ).choices(["same-size", "independent"]),
    )
    .addOption(
      new Option("--cancel <what>", "what a cancel reaches at a server; default queued").choices([
        "none",
        "queued",
        "running",
      ]),
    )
    .option(
      "--warm-up <ratio>",
      "share of the requests, the first ones, that is not measured; default 10%",
      ratioIn(0, 0.9),
    );
}

/**
 * What is to be rehearsed; undefined: the flags ask for no rehearsal. Throws a {@link CommandFailure} for half of one.
 *
 * @param others - by name, what a scenario may be given and a rehearsal may not; undefined values were not.
 */
export function rehearsalOf(
  flags: RehearseFlags,
  others: Readonly<Record<string, unknown>>,
): RehearseOptions | undefined {
  const { policy, trace } = flags;
  if (policy === undefined && trace === undefined) {
    for (const [key, flag] of Object.entries(OWN_FLAGS)) {
      if (flags[key as keyof RehearseOptions] !== undefined)
        throw new CommandFailure(
          `${flag}: this belongs to a rehearsal`,
          "Give --policy FILE --trace FILE too.",
        );
    }
    return undefined;
  }
  if (policy === undefined || trace === undefined)
    throw new CommandFailure(
      policy === undefined ? "--trace needs --policy" : "--policy needs --trace",
      "Give both: --policy bobtail.yaml --trace requests.csv.",
    );
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw new CommandFailure(
      `${other}: a rehearsal takes its world from the trace`,
      "Leave it out, or leave --policy and --trace out.",
    );
  return { ...flags, policy, trace };
}

/** Rehearses policies and prints what they would do. Throws a {@link CommandFailure}. */
export async function rehearse(options: RehearseOptions): Promise<void> {
  const { readCandidates } = await import("./candidates.ts");
  const { readTrace } = await import("./read-trace.ts");
  const { rehearseAll } = await import("./rehearsal.ts");
  const { rehearsalJson, rehearsalText } = await import("./rehearsal-report.ts");
  const { service, servers } = options;
  const candidates = readCandidates(options.policy, {
    service,
    servers,
  });
  const trace = await readTrace(options.trace, options);
  const stage = stageOf(options, trace, candidates);
  const progress = process.stderr.isTTY === true;
  const rows = await rehearseAll(candidates, trace, stage, (name, run) => {
    if (progress) process.stderr.write(`\r\u001b[2K${name}: run ${run + 1} of ${stage.runs}`);
  });
  if (progress) process.stderr.write("\r\u001b[2K");
  const report = { trace, stage, candidates, rows };
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify(rehearsalJson(report), null, 2)}\n`
      : rehearsalText(report, paletteFor(process.stdout)),
  );
}

function stageOf(options: RehearseOptions, trace: Trace, candidates: readonly Candidate[]): Stage {
  const { runs = DEFAULT_RUNS, seed = 1, slow = new Map<number, number>() } = options;
  const fewest = Math.min(...candidates.map(({ endpoints }) => endpoints.length));
  if (fewest === 0)
    throw new CommandFailure("a service without endpoints cannot be rehearsed", "Give --servers.");
  checkPlaces("--slow", slow, fewest);
  if (options.workersOf !== undefined) {
    checkPlaces("--workers-of", options.workersOf, fewest);
    if (options.workersPerServer === undefined)
      throw new CommandFailure(
        "--workers-of: the other servers have no limit",
        "Give them one with --workers-per-server.",
      );
  }
  return {
    workers: options.workersPerServer ?? "unlimited",
    workersOf: options.workersOf,
    slow,
    queueTimeoutMs: options.queueTimeout,
    copies: options.copies ?? (trace.measure === "latency" ? "independent" : "same-size"),
    cancel: options.cancel ?? "queued",
    warmUpRatio: options.warmUp ?? WARM_UP_RATIO,
    runs,
    seed,
  };
}

function checkPlaces(flag: string, byServer: ReadonlyMap<number, number>, servers: number): void {
  for (const server of byServer.keys()) {
    if (server >= servers)
      throw new CommandFailure(
        `${flag} ${server}: there are ${servers} servers`,
        `Name one from 0 to ${servers - 1}.`,
      );
  }
}
