import { expect, test } from "vitest";
import { commandLineOf } from "./trial-command-line.ts";
import { gradeFlag, loadFlag, portsFlag } from "./trial-flags.ts";

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

test("a grade is a letter from A to F", () => {
  expect([gradeFlag("C"), gradeFlag("f")]).toEqual(["C", "F"]);
  for (const text of ["", "G", "AB", "1"])
    expect(() => gradeFlag(text)).toThrow("A, B, C, D, E, F");
});

test("the command that repeats a trial names everything that its figures depend on", () => {
  const flags = {
    ports: [9001, 9002, 9003, 9004],
    wait: 60,
    mean: 20,
    load: 0.7,
    seed: 1,
    timeScale: 1,
  };
  expect(commandLineOf(["nginx", "bobtail"], flags)).toBe(
    "bobtail trial nginx bobtail --quick --mean 20 --load 0.7 --seed 1",
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
      "--mean 20 --load 0.7 --seed 1 --seconds 5 --time-scale 2",
  );
  expect(commandLineOf(["all"], { ...flags, all: true })).toContain("all --all");
});
