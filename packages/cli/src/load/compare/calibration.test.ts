import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { setupHash } from "../output/run-setup.ts";
import {
  type Calibration,
  floorAt,
  foreignness,
  readCalibration,
  refuseBelowFloor,
  thisHost,
  writeCalibration,
} from "./calibration.ts";
import { QUANTITY_NAMES } from "./quantity.ts";
import { SETUP } from "./recorded-run.testbed.ts";
import { DEFAULT_THRESHOLDS, readThresholds } from "./threshold.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "bobtail-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const CALIBRATION: Calibration = {
  host: thisHost(),
  setupSha256: setupHash(SETUP, "1.0.0"),
  runs: 8,
  createdAt: "2026-01-01T00:00:00.000Z",
  floors: [
    { name: "p50", change: 0.02, median: 100 },
    { name: "p99", change: 0.21, median: 400 },
    { name: "errors", change: 0, median: 0 },
  ],
};

const asked = { thresholds: DEFAULT_THRESHOLDS, quantities: QUANTITY_NAMES, runs: 8 };

test("a threshold below the noise floor is refused, with what to write instead", () => {
  expect(() => refuseBelowFloor(CALIBRATION, asked)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining("p99: 5 % is below 21 %"),
      remedy: expect.stringContaining("--threshold p99=21%"),
      exitCode: 2,
    }),
  );
});

test("a raised threshold, or a quantity left out, is not refused", () => {
  const thresholds = readThresholds(["p99=21%"]);
  expect(() => refuseBelowFloor(CALIBRATION, { ...asked, thresholds })).not.toThrow();
  expect(() => refuseBelowFloor(CALIBRATION, { ...asked, quantities: ["p50"] })).not.toThrow();
});

test("four times the runs halve the floor", () => {
  const floor = CALIBRATION.floors[1] ?? { name: "p99", change: 0, median: 0 };
  expect(floorAt(CALIBRATION, floor, 32)).toBeCloseTo(Math.sqrt(1.21) - 1, 10);
});

test("a threshold in ms counts where it is the larger one", () => {
  const fast = { ...CALIBRATION, floors: [{ name: "p50" as const, change: 0.5, median: 1 }] };
  expect(() => refuseBelowFloor(fast, asked)).not.toThrow();
});

test("an unbounded floor is refused by any threshold", () => {
  const floors = [{ name: "p99" as const, change: Infinity, median: Infinity }];
  const thresholds = readThresholds(["1000%"]);
  expect(() => refuseBelowFloor({ ...CALIBRATION, floors }, { ...asked, thresholds })).toThrow(
    /unbounded/,
  );
});

test("what is written is read back, infinite floors too", () => {
  const file = join(directory, "calibration.json");
  const floors = [...CALIBRATION.floors, { name: "p99.9", change: Infinity, median: Infinity }];
  const calibration = { ...CALIBRATION, floors } as Calibration;
  writeCalibration(file, calibration, "1.0.0");
  expect(readCalibration(file)).toEqual(calibration);
});

test("a file that is something else is refused with its place, and none is none", () => {
  const file = join(directory, "calibration.json");
  expect(readCalibration(file)).toBeUndefined();
  writeFileSync(file, '{"schema":"bobtail.load/1"}');
  expect(() => readCalibration(file)).toThrow(/calibration.json: schema: expected/);
});

test("it says nothing of other options, other versions and other hosts", () => {
  expect(foreignness(CALIBRATION, SETUP, "1.0.0")).toBeUndefined();
  expect(foreignness(CALIBRATION, { ...SETUP, timeoutMs: 1 }, "1.0.0")).toMatch(/other options/);
  expect(foreignness(CALIBRATION, SETUP, "2.0.0")).toMatch(/other options/);
  expect(foreignness({ ...CALIBRATION, host: "x" }, SETUP, "1.0.0")).toMatch(/made on x/);
});
