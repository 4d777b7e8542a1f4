import { expect, test } from "vitest";
import { commandLineOf } from "./trial-command-line.ts";
import {
  checkTogether,
  gradeFlag,
  loadFlag,
  meanFlag,
  portsFlag,
  secondsFlag,
  waitFlag,
} from "./trial-flags.ts";

test("ports are a range, or named one by one", () => {
  expect(portsFlag("9001..9004")).toEqual([9001, 9002, 9003, 9004]);
  expect(portsFlag("9001, 80,70,9002")).toEqual([9001, 80, 70, 9002]);
});

test.each([
  "",
  "9001",
  "9001..9003",
  "9004..9001",
  "9001..9100",
  "0..5",
  "65533..65540",
  "9001,x,1,2",
  "1,2,3,3",
])("the ports %j are refused: a fleet has 4 to 64 backends, each on its own", (text) => {
  expect(() => portsFlag(text)).toThrow("Expected 4 to 64 ports");
});

test("a load is a share of the capacity, as a percentage or a ratio", () => {
  expect([loadFlag("70%"), loadFlag("0.7")]).toEqual([0.7, 0.7]);
  for (const text of ["", "70", "0", "-1%", "96%", "x"])
    expect(() => loadFlag(text)).toThrow("up to 95 %");
});

test("times have units, as those of the other commands; a bare number has one where the flag is named for it", () => {
  expect([meanFlag("20ms"), meanFlag("1s"), meanFlag("1.5ms")]).toEqual([20, 1_000, 1.5]);
  expect([waitFlag("0s"), waitFlag("90s"), waitFlag("2m")]).toEqual([0, 90_000, 120_000]);
  expect([secondsFlag("10"), secondsFlag("10s"), secondsFlag("1m"), secondsFlag("1.5")]).toEqual([
    10, 10, 60, 1.5,
  ]);
});

test("a time that means nothing, or is out of range, is refused with what to write", () => {
  for (const text of ["", "x", "0ms", "2s", "1h", "-1ms", "20 ms"])
    expect(() => meanFlag(text), text).toThrow("from 1ms to 1s, as 20ms");
  for (const text of ["2h", "-1s"])
    expect(() => waitFlag(text), text).toThrow("at most 1h, as 60s");
  for (const text of ["0", "500ms", "2h", "ten", "1e3"])
    expect(() => secondsFlag(text), text).toThrow("as 10, or a duration, as 10s or 2m");
  expect(() => meanFlag("10")).toThrow("10 of what? Write 10ms or 10s.");
  expect(() => waitFlag("60")).toThrow("60 of what? Write 60ms or 60s.");
});

test("the times of the command line that repeats a trial are read back", () => {
  const flags = { ports: [], wait: 60_000, mean: 12.5, load: 0.7, seed: 1, timeScale: 1 };
  const words = commandLineOf(["bobtail"], { ...flags, seconds: 90 }).split(" ");
  const after = (name: string): string => words[words.indexOf(name) + 1] ?? "";
  expect([meanFlag(after("--mean")), secondsFlag(after("--seconds"))]).toEqual([12.5, 90]);
});

test("a grade is a letter from A to F", () => {
  expect([gradeFlag("C"), gradeFlag("f")]).toEqual(["C", "F"]);
  for (const text of ["", "G", "AB", "1"])
    expect(() => gradeFlag(text)).toThrow("A, B, C, D, E, F");
});

test("the command that repeats a trial names everything that its figures depend on", () => {
  const flags = {
    ports: [9001, 9002, 9003, 9004],
    wait: 60_000,
    mean: 20,
    load: 0.7,
    seed: 1,
    timeScale: 1,
  };
  expect(commandLineOf(["nginx", "bobtail"], flags)).toBe(
    "bobtail trial nginx bobtail --quick --mean 20ms --load 0.7 --seed 1",
  );
  expect(
    commandLineOf([], {
      ...flags,
      url: "http://127.0.0.1:8080",
      scenario: ["slow", "o'clock"],
      seconds: 5,
      timeScale: 2,
    }),
  ).toBe(
    "bobtail trial --url http://127.0.0.1:8080 --ports 9001,9002,9003,9004 --scenario slow --scenario 'o'\\''clock' " +
      "--mean 20ms --load 0.7 --seed 1 --seconds 5 --time-scale 2",
  );
  expect(commandLineOf(["all"], { ...flags, all: true })).toContain("all --all");
});

test("flags that have no meaning together are refused, each with what to do", () => {
  const none = () => false;
  const given = (name: string) => (one: string) => one === name;
  const url = "http://127.0.0.1:8080";
  expect(() => checkTogether({ scenario: ["slow"], all: true }, none)).toThrow(
    expect.objectContaining({ remedy: expect.stringContaining("--seconds 30") }),
  );
  expect(() => checkTogether({ all: true, quick: true }, none)).toThrow("--all and --quick");
  expect(() => checkTogether({ scenario: ["slow"], quick: true }, none)).toThrow(
    "--scenario and --quick",
  );
  expect(() => checkTogether({ showConfig: true, json: true }, none)).toThrow("--show-config");
  for (const name of ["ports", "wait"])
    expect(() => checkTogether({}, given(name))).toThrow(`--${name} is of a balancer of your own`);
  checkTogether({ url }, given("ports"));
  checkTogether({ showConfig: true }, given("ports"));
  checkTogether({ scenario: ["slow", "stalls"] }, none);
});
