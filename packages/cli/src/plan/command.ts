import type { HedgePlan } from "bobtail/plan";
import { type Command, Option } from "commander";
import { CommandFailure } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import { type LatencyLog, LOG_FORMATS, type LogFormat } from "./latency-log.ts";
import { LATENCY_UNITS, type LatencyUnit } from "./latency-unit.ts";
import { isObjectiveKnown } from "./objective.ts";
import { fanOutFlag, ratioIn, readSlo, type SloFlag } from "./plan-flags.ts";
import type { SimulatedPlan } from "./simulate-plan.ts";

interface PlanFlags {
  readonly fanOut: number;
  readonly slo?: SloFlag;
  readonly budget: number;
  readonly load?: number;
  readonly maxLoad: number;
  readonly cancelSaving: number;
  readonly replicaCorrelation?: number;
  readonly leafCorrelation: number;
  readonly format?: LogFormat;
  readonly field?: string;
  readonly pairField?: string;
  readonly censoredField?: string;
  readonly unit?: LatencyUnit;
  readonly logFormat?: string;
  readonly json?: boolean;
  readonly yaml?: boolean;
  readonly verify?: boolean;
}

/** The objective is not met by anything within the budget: a threshold that CI can act on. */
const EXIT_NOT_MET = 3;
/** The log is too short to tell. */
const EXIT_NOT_VALID = 5;
const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143 } as const;

/** `bobtail plan`: from latency logs to leaf targets, a hedge and a policy. */
export function addPlanCommand(program: Command): void {
  const command = program
    .command("plan")
    .summary("from latency logs to a hedge delay and a policy")
    .description(
      "Reads latencies of one leaf and prints what each leaf must meet, the hedge delay that fits a budget, the best " +
        "delay and probability, the request's percentiles with and without it, what it does to the load, and a policy.",
    )
    .argument(
      "<file...>",
      "logs, gzip or not: CSV, JSON lines, .hlog, Prometheus text, nginx or Envoy; - reads standard input",
    );
  addPlanningOptions(command);
  addLogOptions(command);
  command
    .option("--json", "print one JSON object")
    .option("--yaml", "print the policy alone")
    .option("--verify", "run the proposed policy in the simulator before it is printed")
    .addHelpText("after", HELP)
    .action((files: readonly string[], flags: PlanFlags) => plan(files, flags));
}

const HELP = `
Examples:
  bobtail plan latencies.csv --unit ms --fan-out 100 --slo 'p99<50ms'
  bobtail plan access.log --log-format "$(cat nginx.format)" --budget 2% --load 0.6
  curl -s http://search:9100/metrics | bobtail plan - --field rpc_duration_seconds
  bobtail plan calls.jsonl --field took_ms --censored-field cancelled --yaml > bobtail.yaml

Take the log in a quiet period, with hedging off or its losers marked as cut short.
Exit codes: 0 ok, 2 usage or a log that makes no sense, 3 the --slo is not met, 5 the log is too short to tell, 130 and 143 on signals.`;

function addPlanningOptions(command: Command): void {
  command
    .option("--fan-out <n>", "leaves that one request waits for", fanOutFlag, 1)
    .option("--slo <objective>", "of the request, as 'p99<50ms'", readSlo)
    .option("--budget <ratio>", "extra calls, at most", ratioIn(1e-6, 1), 0.05)
    .option("--load <ratio>", "busy share of the leaves without hedges", ratioIn(0, 0.999))
    .option("--max-load <ratio>", "busy share that must not be passed", ratioIn(0.01, 0.999), 0.8)
    .option(
      "--cancel-saving <ratio>",
      "share of a second copy's work that cancelling saves",
      ratioIn(0, 1),
      0,
    )
    .option(
      "--replica-correlation <ratio>",
      "chance that a second copy meets what the first met; default from --pair-field, else 0",
      ratioIn(0, 1),
    )
    .option(
      "--leaf-correlation <ratio>",
      "share of the slowness that strikes all leaves of a request at once",
      ratioIn(0, 1),
      0,
    );
}

function addLogOptions(command: Command): void {
  command
    .addOption(
      new Option(
        "--format <format>",
        "how the log is written; default by its name and first line",
      ).choices(LOG_FORMATS),
    )
    .option(
      "--field <name>",
      "column (name, or number from 1), JSON path, metric, tag or log variable",
    )
    .option(
      "--pair-field <name>",
      "latency of a second copy that was sent at the same moment (CSV, JSON)",
    )
    .option("--censored-field <name>", "is true where a call was cut short (CSV, JSON)")
    .addOption(
      new Option("--unit <unit>", "of the latencies, where the log does not state it").choices(
        LATENCY_UNITS,
      ),
    )
    .option("--log-format <format>", "log_format of nginx or format string of Envoy");
}

async function plan(files: readonly string[], flags: PlanFlags): Promise<void> {
  // Loaded here: the help of every command should come at once.
  const { planHedge } = await import("bobtail/plan");
  const log = await read(files, flags);
  const result = planHedge({
    latency: log.latency,
    pairs: log.pairs,
    fanOut: flags.fanOut,
    quantile: flags.slo?.quantile,
    withinMs: flags.slo?.withinMs,
    budgetRatio: flags.budget,
    loadRatio: flags.load,
    maxLoadRatio: flags.maxLoad,
    cancelSavingRatio: flags.cancelSaving,
    replicaCorrelation: flags.replicaCorrelation,
    leafCorrelation: flags.leafCorrelation,
  });
  const simulated = flags.verify === true ? await simulate(result, log, flags) : undefined;
  process.stdout.write(await report({ result, log, simulated }, flags));
  if (result.advice !== undefined) process.exitCode = EXIT_NOT_MET;
  else if (flags.slo !== undefined && !isObjectiveKnown(result)) process.exitCode = EXIT_NOT_VALID;
}

async function read(files: readonly string[], flags: PlanFlags): Promise<LatencyLog> {
  const { readLatencies } = await import("./read-latencies.ts");
  const { readingLine } = await import("./reading-line.ts");
  const line = readingLine(process.stderr, () => performance.now());
  const onSignal = (signal: keyof typeof SIGNAL_EXITS): void => {
    process.exit(SIGNAL_EXITS[signal]);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  try {
    return await readLatencies(files, {
      format: flags.format,
      field: flags.field,
      pairField: flags.pairField,
      censoredField: flags.censoredField,
      unit: flags.unit,
      logFormat: flags.logFormat,
      onProgress: (progress) => line.show(progress),
    });
  } finally {
    line.end();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

async function simulate(
  result: HedgePlan,
  log: LatencyLog,
  flags: PlanFlags,
): Promise<SimulatedPlan | undefined> {
  const { simulatePlan } = await import("./simulate-plan.ts");
  const simulated = simulatePlan(result, log.latency, flags.leafCorrelation);
  if (simulated === undefined)
    throw new CommandFailure(
      "--verify: how long the slowest calls of this log take is not known, and the simulator would have to invent it",
      "Leave it out; or let some calls run to their end uncancelled, so that the log holds the slow ones.",
    );
  return simulated;
}

interface Findings {
  readonly result: HedgePlan;
  readonly log: LatencyLog;
  readonly simulated: SimulatedPlan | undefined;
}

async function report(findings: Findings, flags: PlanFlags): Promise<string> {
  const { result, log, simulated } = findings;
  if (flags.json === true) {
    const { planJson } = await import("./plan-json.ts");
    return `${JSON.stringify(planJson(result, log, simulated), null, 2)}\n`;
  }
  if (flags.yaml === true) {
    const { policySnippet } = await import("./policy-snippet.ts");
    return policySnippet(result);
  }
  const { planText } = await import("./plan-text.ts");
  return planText(result, log, { palette: paletteFor(process.stdout), simulated });
}
