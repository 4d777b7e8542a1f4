import { type Command, InvalidArgumentError } from "commander";
import { collect } from "../../commands/collect.ts";
import { countIn } from "../../sim/sim-flags.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import { QUANTITY_NAMES, type QuantityName } from "./quantity.ts";
import { MAX_RUNS } from "./rank-sum.ts";

/** As the command line gives them: what was not given is undefined. */
export interface CompareFlags {
  readonly compare?: readonly string[];
  readonly against?: readonly string[];
  readonly runs?: number;
  readonly threshold?: readonly string[];
  readonly quantities?: readonly QuantityName[];
  readonly calibrate?: boolean;
  readonly calibration?: string;
}

const OWN_FLAGS = ["against", "runs", "threshold", "quantities", "calibration"] as const;

export const COMPARE_HELP = `
Comparisons:
  bobtail load --compare http://127.0.0.1:8081/ http://127.0.0.1:8082/ --runs 8 --rate 200
  bobtail load --compare old*.json --against new*.json
  bobtail load http://127.0.0.1:8081/ --calibrate
`;

/** Adds what compares two sides by repeated runs, beside what says how a run is made. */
export function addCompareOptions(command: Command): void {
  command
    .option(
      "--compare <what...>",
      "two URLs, measured in turns, or stored .json runs: exit 4 when the second is worse",
    )
    .option("--against <what...>", "the second side, where either has several stored runs")
    .option("--runs <n>", "of each side; default 8", countIn(1, MAX_RUNS))
    .option(
      "--threshold <list>",
      "changes that matter; default 5%,1ms,errors=0.1%; of one quantity p99=10%; may be repeated",
      collect,
    )
    .option("--quantities <list>", `of ${QUANTITY_NAMES.join(",")}; default all`, quantitiesFlag)
    .option("--calibrate", "measure the URL against itself: this host's noise floor")
    .option(
      "--calibration <file>",
      "where it is kept, and what later thresholds are held against; default bobtail-calibration.json",
    );
}

/** Whether two sides are to be compared. Throws a {@link CommandFailure} for half of that. */
export function isComparison(flags: CompareFlags): boolean {
  if (flags.compare !== undefined || flags.calibrate === true) return true;
  const stray = OWN_FLAGS.find((name) => flags[name] !== undefined);
  if (stray !== undefined)
    throw new CommandFailure(`--${stray}: this belongs to a comparison`, "Give --compare A B too.");
  return false;
}

function quantitiesFlag(text: string): readonly QuantityName[] {
  const names = text.split(",").map((part) => part.trim());
  const known = QUANTITY_NAMES.filter((name) => names.includes(name));
  if (known.length !== names.length)
    throw new InvalidArgumentError(`Expected some of ${QUANTITY_NAMES.join(",")}, each once.`);
  return known;
}
