import { type Command, InvalidArgumentError, Option } from "commander";
import { collect } from "../../commands/collect.ts";
import { LATENCY_UNITS, type LatencyUnit } from "../../plan/latency-unit.ts";
import { countIn, wholeNumber } from "../../sim/sim-flags.ts";
import type { ArrivalPattern } from "../arrivals.ts";
import { type Condition, collectConditions, objectiveFlag } from "./condition.ts";
import { type RateFlag, rateFlag, stepsFlag, sweepFlag } from "./rate-flags.ts";
import { timeFlag, timeFlagFrom0 } from "./time-flag.ts";

/** As the command line gives them: what was not given is undefined. */
export interface LoadFlags {
  readonly rate?: RateFlag;
  readonly steps?: readonly number[];
  readonly duration?: number;
  readonly warmup?: number;
  readonly arrivals?: ArrivalPattern;
  readonly seed?: number;
  readonly trace?: string;
  readonly timeField?: string;
  readonly timeUnit?: LatencyUnit;
  readonly timeout?: number;
  readonly maxInFlight?: number;
  readonly connections?: number;
  readonly workers?: number;
  readonly http2?: boolean;
  readonly sse?: boolean;
  readonly insecure?: boolean;
  readonly ca?: string;
  readonly method?: string;
  readonly header?: readonly string[];
  readonly body?: string;
  readonly weights?: readonly number[];
  readonly urls?: string;
  readonly sweep?: readonly number[];
  readonly findLimit?: Condition;
  readonly failIf?: readonly Condition[];
  readonly out?: readonly string[];
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly iOwnThis?: boolean;
}

/** Adds what says how a run is made. What becomes of it: {@link addResultOptions}. */
export function addRunOptions(command: Command): void {
  addTimingOptions(command);
  addRequestOptions(command);
  command
    .option("--timeout <time>", "from the planned send; default 10s", timeFlag)
    .option(
      "--max-in-flight <n>",
      "one more is dropped, and counted; default 2048",
      countIn(1, 65_535),
    )
    .option(
      "--connections <n>",
      "open at once; default as many as are in flight, so that none waits for one",
      countIn(1, 65_535),
    )
    .option("--workers <n>", "sending threads; default 1", countIn(1, 64))
    .option("--http2", "HTTP/2: agreed on over https, spoken at once over http")
    .option("--sse", "answers are event streams: first event, gaps, whole stream")
    .option("--insecure", "do not check certificates")
    .option("--ca <file>", "trust the certificates of this PEM file in place of the usual ones")
    .option(
      "--i-own-this",
      "the target is yours, or its owner agreed: for public and link-local addresses",
    );
}

function addTimingOptions(command: Command): void {
  command
    .option("--rate <n>", "requests a second, or a ramp as 100..2000; default 50", rateFlag)
    .option("--steps <list>", "rates one after the other, as 100,200,400", stepsFlag)
    .option("--duration <time>", "what is measured; default 10s", timeFlag)
    .option(
      "--warmup <time>",
      "sent before it, not in the figures; default 5s or 10 % of the duration, the larger",
      timeFlagFrom0,
    )
    .addOption(
      new Option(
        "--arrivals <how>",
        "default poisson: users who know nothing of each other",
      ).choices(["poisson", "uniform"]),
    )
    .option("--seed <n>", "the same seed plans the same moments; default 1", wholeNumber)
    .option("--trace <file>", "send at the moments of a CSV or JSON lines file, gzip too")
    .option("--time-field <name>", "its column or field of the time; default by its name")
    .addOption(
      new Option("--time-unit <unit>", "of times that are numbers").choices(LATENCY_UNITS),
    );
}

function addRequestOptions(command: Command): void {
  command
    .option("-X, --method <name>", "default GET, or POST with a body")
    .option("-H, --header <line>", "as 'name: value'; may be repeated", collect)
    .option("-d, --body <text>", "what is sent, or @FILE")
    .option("--weights <list>", "shares of several URLs, as 3,1; default even", weightsFlag)
    .option("--urls <file>", "URLs from a file, one a line: [weight] [method] URL");
}

/** Adds what a run is searched for, judged by and written to. */
export function addResultOptions(command: Command): void {
  command
    .option(
      "--sweep <range>",
      "latency against rate, one run each: 50..2000, 50..2000:50 or 50..2000:x2",
      sweepFlag,
    )
    .option("--find-limit <objective>", "the highest rate that keeps 'p99<50ms'", objectiveFlag)
    .option(
      "--fail-if <condition>",
      "exit 3 when 'p99>50ms', 'errors>1%', 'sent<99%'; may be repeated",
      collectConditions,
    );
  addOutputOptions(command);
  command.option("--quiet", "no progress on stderr");
}

export interface OutputFlags {
  readonly out?: readonly string[];
  readonly json?: boolean;
}

export function addOutputOptions(command: Command): void {
  command
    .option("--out <file>", "write .json, .html, .csv or .hlog; may be repeated", collect)
    .option("--json", "print one JSON object");
}

function weightsFlag(text: string): readonly number[] {
  const weights = text.split(",").map((part) => Number(part.trim() === "" ? Number.NaN : part));
  if (!weights.every((weight) => weight > 0 && weight < 1e9))
    throw new InvalidArgumentError("Expected numbers above 0, one for each URL, as 3,1.");
  return weights;
}
