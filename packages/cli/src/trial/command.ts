import { type Command, Option } from "commander";
import { collect } from "../commands/collect.ts";
import { numberIn, wholeNumber } from "../sim/sim-flags.ts";
import {
  checkTogether,
  gradeFlag,
  loadFlag,
  meanFlag,
  portsFlag,
  secondsFlag,
  type TrialFlags,
  waitFlag,
} from "./trial-flags.ts";

const DEFAULT_PORTS = "9001..9010";
const DEFAULT_WAIT = "60s";
const DEFAULT_MEAN = "20ms";
const DEFAULT_LOAD = "70%";

/** `bobtail trial`: a balancer before sick backends, graded. */
export function addTrialCommand(program: Command): void {
  program
    .command("trial")
    .summary("grade a balancer before sick backends")
    .description(
      "Would your balancer route round a backend that is five times slower but returns no errors? Starts ten backends " +
        "that fall ill in several ways, the balancer before them, and honest load; grades what users would feel by its " +
        "distance from an ideal balancer. Loopback only; everything that it starts has ended when it ends.",
    )
    .argument(
      "[target...]",
      "a balancer as nginx/round-robin, all configurations of a program as nginx, or all that is installed as all",
    )
    .option("--list", "name targets and scenarios, and say how to install what is missing")
    .option("--scenario <name>", "run this one; repeatable; default the quick set", collect)
    .option("--quick", "the quick set of scenarios (default)")
    .option("--all", "every scenario")
    .option(
      "--url <url>",
      "your own balancer, which you point at the backends; says how, and waits",
    )
    .addOption(
      new Option("--ports <ports>", "where the backends listen for --url")
        .argParser(portsFlag)
        .default(portsFlag(DEFAULT_PORTS), DEFAULT_PORTS),
    )
    .addOption(
      new Option("--wait <time>", "how long --url may take to reach the backends")
        .argParser(waitFlag)
        .default(waitFlag(DEFAULT_WAIT), DEFAULT_WAIT),
    )
    .addOption(
      new Option("--mean <time>", "mean service time of a healthy backend")
        .argParser(meanFlag)
        .default(meanFlag(DEFAULT_MEAN), DEFAULT_MEAN),
    )
    .addOption(
      new Option("--load <share>", "of what the backends can serve")
        .argParser(loadFlag)
        .default(loadFlag(DEFAULT_LOAD), DEFAULT_LOAD),
    )
    .option(
      "--seconds <n>",
      "what is measured of each, after a warm-up, as 10, 10s or 2m; default 10 for the quick set and 30 for all, at a mean of 20 ms",
      secondsFlag,
    )
    .option("--seed <n>", "of service times and arrivals", wholeNumber, 1)
    .option(
      "--time-scale <n>",
      "make all times longer from the start, for a busy machine; figures are divided by it",
      numberIn(1, 8),
      1,
    )
    .option("--json", "print one JSON object")
    .option("--html <file>", "write a report card with charts, in one file that loads nothing")
    .option("--show-config", "print the configuration of each target, and run nothing")
    .option("--fail-below <grade>", "exit with 3 when any grade is worse, as C", gradeFlag)
    .addHelpText("after", HELP)
    .action(async (targets: readonly string[], flags: TrialFlags, command: Command) => {
      checkTogether(flags, (name) => command.getOptionValueSource(name) === "cli");
      // Loaded here: the help of every command should not wait for the simulator.
      const { trial } = await import("./trial.ts");
      await trial(targets, flags, program.version() ?? "unknown");
    });
}

const HELP = `
Examples:
  bobtail trial --list
  bobtail trial nginx/round-robin nginx/least-conn bobtail
  bobtail trial envoy --scenario slow --scenario stalls --html envoy.html
  bobtail trial --url http://127.0.0.1:8080 --ports 9001..9010
  bobtail trial bobtail --all --fail-below C --json > trial.json

Exit codes:
  0         ok
  2         usage, or a target that is not installed or not reached
  3         a grade below --fail-below, or a target that did not start
  5         a cell that the machine disturbed twice, or with too few requests
  130, 143  on signals, with the partial report`;
