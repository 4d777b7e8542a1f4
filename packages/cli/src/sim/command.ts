import { availableParallelism } from "node:os";
import { type Command, Option } from "commander";
import { collect } from "../commands/collect.ts";
import {
  addRehearseOptions,
  REHEARSE_HELP,
  type RehearseFlags,
  rehearsalOf,
  rehearse,
} from "../rehearse/rehearse.ts";
import { paletteFor } from "../terminal/palette.ts";
import type { OutputFlags } from "./output.ts";
import type { Shard } from "./shard.ts";
import { countIn, scaleFlag, shardFlag, wholeNumber } from "./sim-flags.ts";

export interface SimFlags extends OutputFlags {
  readonly set?: readonly string[];
  readonly sweep?: readonly string[];
  readonly runs?: number;
  readonly seed?: number;
  readonly scale: number;
  readonly workers: number;
  readonly shard?: Shard;
  readonly out?: string;
}

const MAX_WORKERS = 256;

/** `bobtail sim`: the simulator, its scenarios, sweeps and shards. */
export function addSimCommand(program: Command): void {
  const sim = program
    .command("sim")
    .enablePositionalOptions()
    .summary("simulate a fleet and compare policies")
    .description(
      "Runs a scenario in virtual time: the call machine, balancers and budgets of production before simulated servers. " +
        "A built-in scenario by name (each published table and exercise is one), a scenario file, or a policy file " +
        "against a recorded trace.",
    )
    .argument(
      "[scenario]",
      "name of a built-in scenario, or a file in YAML or JSON; - reads standard input",
    )
    .option("--set <path=value>", "change a field, as arrivals.load=0.5; repeatable", collect)
    .option(
      "--sweep <path=values>",
      "a row for each value, as arrivals.load=0.1..0.9:0.1 or policy.hedge.afterMs=5,10,20; repeatable",
      collect,
    )
    .option(
      "--runs <n>",
      "replications of each row, for intervals; default 5, or the file's",
      countIn(1, 1_000),
    )
    .option("--seed <n>", "of the first replication; default 1, or the file's", wholeNumber)
    .option("--scale <x>", "multiply the number of requests", scaleFlag, 1)
    .option(
      "--workers <n>",
      "threads; the result does not depend on it",
      countIn(1, MAX_WORKERS),
      Math.min(MAX_WORKERS, availableParallelism()),
    )
    .option("--shard <i/n>", "compute one of n parts, for `sim merge`", shardFlag)
    .option("--out <file>", "where the shard is written");
  addRehearseOptions(sim);
  addOutputOptions(sim)
    .addHelpText("after", HELP)
    .action(async (scenario: string | undefined, flags: SimFlags & RehearseFlags) => {
      const rehearsal = rehearsalOf(flags, otherThanRehearsal(scenario, flags));
      if (rehearsal !== undefined) return rehearse(rehearsal);
      if (scenario === undefined) return sim.error("error: missing required argument 'scenario'");
      const { sim: run } = await import("./sim.ts");
      await run(scenario, flags, program.version() ?? "unknown");
    });
  addListCommand(sim);
  addMergeCommand(sim, program);
}

/** What only a scenario takes. */
function otherThanRehearsal(
  scenario: string | undefined,
  { set, sweep, scale, shard, out, csv, html }: SimFlags,
): Record<string, unknown> {
  return {
    [scenario ?? "scenario"]: scenario,
    "--set": set,
    "--sweep": sweep,
    "--scale": scale === 1 ? undefined : scale,
    "--shard": shard,
    "--out": out,
    "--csv": csv,
    "--html": html,
  };
}

function addListCommand(sim: Command): void {
  sim
    .command("list")
    .summary("the built-in scenarios")
    .description("Names every built-in scenario, what it shows and what it repeats.")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { readonly json?: boolean }) => {
      const { listJson, listText } = await import("./list-scenarios.ts");
      process.stdout.write(
        json === true
          ? `${JSON.stringify(listJson(), null, 2)}\n`
          : listText(paletteFor(process.stdout)),
      );
    });
}

function addMergeCommand(sim: Command, program: Command): void {
  const merge = sim
    .command("merge")
    .summary("put shards together")
    .description(
      "Merges all shards of one simulation. Nothing is lost: the result is that of a single run, to the last digit.",
    )
    .argument("<file...>", "what each `sim --shard i/n --out FILE` wrote");
  addOutputOptions(merge)
    .addHelpText(
      "after",
      `
Example, on three machines and then one:
  bobtail sim slow-backend --runs 30 --shard 1/3 --out part1.json
  bobtail sim slow-backend --runs 30 --shard 2/3 --out part2.json
  bobtail sim slow-backend --runs 30 --shard 3/3 --out part3.json
  bobtail sim merge part1.json part2.json part3.json --html report.html

Exit codes: 0 ok, 2 shards that do not belong together or are not all there.`,
    )
    .action(async (files: readonly string[], flags: OutputFlags) => {
      const { merge: run } = await import("./merge.ts");
      await run(files, flags, program.version() ?? "unknown");
    });
}

function addOutputOptions(command: Command): Command {
  return command
    .addOption(new Option("--json", "print one JSON object").conflicts("csv"))
    .option("--csv", "print one line a row")
    .option("--html <file>", "write a report with charts, in one file that loads nothing");
}

const HELP = `
A scenario file:
  servers: [{ count: 9, workers: 4 }, { workers: 4, slowdown: 5 }]
  size: { kind: exponential, meanMs: 10 }
  arrivals: { kind: poisson, load: 0.7 }
  requests: 200000
  policies:
    round robin: { balance: { policy: round-robin } }
    hedged: { hedge: { afterMs: 60 }, budget: { extraRatio: 0.05 } }

Examples:
  bobtail sim list
  bobtail sim slow-backend
  bobtail sim world.yaml --runs 10 --sweep arrivals.load=0.1..0.9:0.1 --html report.html
  bobtail sim slow-backend --set 'servers[0].slowdown=10' --json
${REHEARSE_HELP}
Exit codes: 0 ok, 2 usage or a scenario file with mistakes, 130 and 143 on signals with the partial result.`;
