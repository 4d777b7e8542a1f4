import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, hostname } from "node:os";
import { checkWritable, writeResult } from "../../sim/output.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import { parseJsonFile } from "../output/json-field.ts";
import { type RunSetup, setupHash } from "../output/run-setup.ts";
import type { Comparison } from "./compare-runs.ts";
import { QUANTITIES, QUANTITY_NAMES, type QuantityName } from "./quantity.ts";
import { showSize } from "./show-quantity.ts";
import { type Thresholds, thresholdOf } from "./threshold.ts";

const CALIBRATION_SCHEMA = "bobtail.calibration/1";
export const DEFAULT_CALIBRATION_FILE = "bobtail-calibration.json";

/** How much the same thing differs from itself on this host, by quantity. */
export interface Calibration {
  readonly host: string;
  readonly setupSha256: string;
  /** Of each side. */
  readonly runs: number;
  readonly createdAt: string;
  readonly floors: readonly NoiseFloor[];
}

export interface NoiseFloor {
  readonly name: QuantityName;
  /** The end of the interval of A against itself that is farther from none, on the quantity's scale; Infinity: not bounded. */
  readonly change: number;
  /** Of all runs, in the quantity's unit; Infinity: unbounded. */
  readonly median: number;
}

export function floorsOf({ compared }: Comparison): NoiseFloor[] {
  return compared.map(({ name, shift, medianA }) => ({
    name,
    change: Math.max(-shift.low, shift.high, 0),
    median: medianA,
  }));
}

export function thisHost(): string {
  return `${hostname()}, ${availableParallelism()} cores`;
}

/** With `runs` a side: floors shrink with the square root of the runs. */
export function floorAt(
  { runs: measured }: Pick<Calibration, "runs">,
  floor: NoiseFloor,
  runs: number,
): number {
  const shrink = Math.sqrt(measured / runs);
  return QUANTITIES[floor.name].scale === "ratio"
    ? Math.expm1(Math.log1p(floor.change) * shrink)
    : floor.change * shrink;
}

/**
 * Refuses thresholds that are below what this host's noise makes of nothing. Throws a {@link CommandFailure} that names each and what to
 * write instead.
 */
export function refuseBelowFloor(
  calibration: Calibration,
  {
    thresholds,
    quantities,
    runs,
  }: {
    readonly thresholds: Thresholds;
    readonly quantities: readonly QuantityName[];
    readonly runs: number;
  },
): void {
  const low = calibration.floors.flatMap((floor) => {
    const { name, median } = floor;
    const size = floorAt(calibration, floor, runs);
    const threshold = thresholdOf(thresholds, name, median);
    return quantities.includes(name) && threshold < size ? [{ name, size, threshold }] : [];
  });
  if (low.length === 0) return;
  const said = low.map(({ name, size, threshold }) => {
    const { scale } = QUANTITIES[name];
    const floor = Number.isFinite(size) ? showSize(size, scale) : "unbounded";
    return `${name}: ${showSize(threshold, scale)} is below ${floor}`;
  });
  const raised = low.filter(({ size }) => Number.isFinite(size));
  const flags = raised.map(({ name, size }) => `${name}=${Math.ceil(size * 1_000) / 10}%`);
  throw new CommandFailure(
    `with ${runs} + ${runs} runs this host's noise is larger than the threshold:\n  ${said.join("\n  ")}`,
    raised.length < low.length
      ? "Leave out, with --quantities, what is unbounded; raise the thresholds of the others, or make more or longer runs."
      : `Give --threshold ${flags.join(",")}, make more runs, or calibrate again with longer ones.`,
  );
}

export function writeCalibration(file: string, calibration: Calibration, version: string): void {
  const text = `${JSON.stringify(calibrationJson(calibration, version), null, 2)}\n`;
  writeResult("--calibration", file, text);
}

/** What is kept; an infinite change or median is null. */
export function calibrationJson(
  { host, setupSha256, runs, createdAt, floors }: Calibration,
  version: string,
): Record<string, unknown> {
  return {
    schema: CALIBRATION_SCHEMA,
    version,
    created_at: createdAt,
    host,
    setup_sha256: setupSha256,
    runs,
    floors: floors.map(({ name, change, median }) => ({
      name,
      unit: QUANTITIES[name].unit,
      scale: QUANTITIES[name].scale,
      change: finiteOrNull(change),
      median: finiteOrNull(median),
    })),
  };
}

export function checkCalibrationFile(file: string): void {
  checkWritable("--calibration", file);
}

/** Undefined: there is no such file. Throws a {@link CommandFailure} for one that is something else. */
export function readCalibration(file: string): Calibration | undefined {
  if (!existsSync(file)) return undefined;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFailure(
      `--calibration ${file}: it cannot be read: ${error instanceof Error ? error.message : error}`,
      "Name a file that `bobtail load --calibrate` wrote.",
    );
  }
  const top = parseJsonFile(file, text);
  top.at("schema").oneOf(CALIBRATION_SCHEMA);
  return {
    host: top.at("host").text(),
    setupSha256: top.at("setup_sha256").text(),
    runs: top.at("runs").number(1),
    createdAt: top.at("created_at").text(),
    floors: top
      .at("floors")
      .items()
      .map((item) => {
        const [change, median] = [item.at("change"), item.at("median")];
        return {
          name: item.at("name").oneOf(...QUANTITY_NAMES),
          change: change.isNull ? Number.POSITIVE_INFINITY : change.number(),
          median: median.isNull ? Number.POSITIVE_INFINITY : median.number(),
        };
      }),
  };
}

/** Why a calibration says nothing of runs like these; undefined when it does. */
export function foreignness(
  { host, setupSha256 }: Calibration,
  setup: RunSetup,
  version: string,
): string | undefined {
  if (host !== thisHost()) return `it was made on ${host}`;
  if (setupSha256 !== setupHash(setup, version))
    return "it was made with other options (rate, duration, path and the like)";
  return undefined;
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
