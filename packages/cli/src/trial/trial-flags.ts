import { InvalidArgumentError } from "commander";
import { isBareNumber, unitHint } from "../load/command/time-flag.ts";
import { readDurationMs, readRatio } from "../policy-file/units.ts";
import { CommandFailure } from "../terminal/failure.ts";
import { GRADES, type Grade } from "./grade.ts";

export interface TrialFlags {
  readonly list?: boolean;
  readonly scenario?: readonly string[];
  readonly all?: boolean;
  readonly quick?: boolean;
  readonly url?: string;
  readonly ports: readonly number[];
  /** ms. */
  readonly wait: number;
  /** ms. */
  readonly mean: number;
  readonly load: number;
  readonly seconds?: number;
  readonly seed: number;
  readonly timeScale: number;
  readonly json?: boolean;
  readonly html?: string;
  readonly showConfig?: boolean;
  readonly failBelow?: Grade;
}

/** As many as a scenario can be built with. */
const MIN_BACKENDS = 4;
const MAX_BACKENDS = 64;
const MAX_PORT = 65_535;

/** `9001..9010`, or `9001,9005,9007,9008`: a port for each backend of the fleet. */
export function portsFlag(text: string): readonly number[] {
  const range = /^(\d+)\.\.(\d+)$/.exec(text.trim());
  const [first, last] = [Number(range?.[1]), Number(range?.[2])];
  const ports =
    range === null
      ? text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN))
      : Array.from(
          { length: Math.min(MAX_PORT, Math.max(0, last - first + 1)) },
          (_, i) => first + i,
        );
  const isRight =
    ports.every((port) => port >= 1 && port <= MAX_PORT) &&
    new Set(ports).size === ports.length &&
    ports.length >= MIN_BACKENDS &&
    ports.length <= MAX_BACKENDS;
  if (!isRight)
    throw new InvalidArgumentError(
      `Expected ${MIN_BACKENDS} to ${MAX_BACKENDS} ports, each once, as 9001..9010 or 9001,9002,9003,9004.`,
    );
  return ports;
}

const MEAN = "a duration from 1ms to 1s, as 20ms";
const WAIT = "a duration of at most 1h, as 60s";
const SECONDS = "seconds from 1 to 3600, as 10, or a duration, as 10s or 2m";

/** `20ms`, in ms. */
export function meanFlag(text: string): number {
  return durationIn(text, { fromMs: 1, toMs: 1_000, wanted: MEAN });
}

/** `60s`, in ms; `0s` is one try. */
export function waitFlag(text: string): number {
  return durationIn(text, { fromMs: 0, toMs: 3_600_000, wanted: WAIT });
}

/** `10`, since the flag's name has the unit, or `10s`, `2m`; in seconds. */
export function secondsFlag(text: string): number {
  const written = isBareNumber(text) ? `${text.trim()}s` : text;
  return durationIn(written, { fromMs: 1_000, toMs: 3_600_000, wanted: SECONDS }) / 1_000;
}

function durationIn(
  text: string,
  range: { readonly fromMs: number; readonly toMs: number; readonly wanted: string },
): number {
  const { fromMs, toMs, wanted } = range;
  const bare = text.trim();
  const ms = readDurationMs(bare);
  if (ms.ok && ms.value >= fromMs && ms.value <= toMs) return ms.value;
  throw new InvalidArgumentError(`Expected ${wanted}.${unitHint(bare)}`);
}

/** `70%` or `0.7`. */
export function loadFlag(text: string): number {
  const ratio = readRatio(text.endsWith("%") ? text : Number(text));
  if (text.trim() === "" || !ratio.ok || !(ratio.value > 0 && ratio.value <= 0.95))
    throw new InvalidArgumentError("Expected a share of the capacity up to 95 %, as 70% or 0.7.");
  return ratio.value;
}

export function gradeFlag(text: string): Grade {
  const grade = GRADES.find((one) => one === text.trim().toUpperCase());
  if (grade === undefined) throw new InvalidArgumentError(`Expected one of ${GRADES.join(", ")}.`);
  return grade;
}

/**
 * Throws a {@link CommandFailure} for flags that have no meaning together.
 *
 * @param isGiven - on the command line, and not by default.
 */
export function checkTogether(
  flags: Partial<TrialFlags>,
  isGiven: (name: "ports" | "wait") => boolean,
): void {
  const { all, quick, scenario, url, list, showConfig, json } = flags;
  const sets = [...(all === true ? ["--all"] : []), ...(quick === true ? ["--quick"] : [])];
  const [one, other] = scenario === undefined ? sets : ["--scenario", ...sets];
  if (one !== undefined && other !== undefined)
    throw new CommandFailure(
      `${one} and ${other} both say which scenarios are run`,
      other === "--all" && scenario !== undefined
        ? "Give one of them; --seconds 30 measures for as long as --all does."
        : "Give one of them.",
    );
  if (showConfig === true && json === true)
    throw new CommandFailure(
      "--show-config prints configurations as they are, and not as JSON",
      "Leave --json out.",
    );
  const isShown = list === true || showConfig === true;
  const stray =
    url === undefined && !isShown ? (["ports", "wait"] as const).find(isGiven) : undefined;
  if (stray !== undefined)
    throw new CommandFailure(
      `--${stray} is of a balancer of your own, and no --url is given`,
      "Give --url URL, or leave it out: the backends of other targets take ports that are free.",
    );
}
