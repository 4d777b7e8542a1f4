import { expect, test } from "vitest";
import { CommandFailure } from "../terminal/failure.ts";
import { chooseScenarios, chooseTargets } from "./choose.ts";
import { fakeScenario, fakeTarget } from "./trial.testbed.ts";

const known = ["bobtail", "bobtail/hedge", "nginx/round-robin", "nginx/least-conn"].map((name) =>
  fakeTarget(name),
);
const names = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name);

test("a target is one configuration, and a program's name all of its configurations", () => {
  expect(names(chooseTargets(["nginx/least-conn"], known))).toEqual(["nginx/least-conn"]);
  expect(names(chooseTargets(["nginx"], known))).toEqual(["nginx/round-robin", "nginx/least-conn"]);
});

test("a configuration that is called like its program is that one alone", () => {
  expect(names(chooseTargets(["bobtail"], known))).toEqual(["bobtail"]);
});

test("what is asked for twice runs once, in the order in which it was asked for", () => {
  const chosen = chooseTargets(["nginx/least-conn", "nginx", "bobtail", "bobtail"], known);
  expect(names(chosen)).toEqual(["nginx/least-conn", "nginx/round-robin", "bobtail"]);
});

test("an unknown name is refused with the nearest one that there is", () => {
  expect(() => chooseTargets(["nginx/least-con"], known)).toThrow(
    expect.objectContaining({
      message: 'there is no target named "nginx/least-con"',
      remedy: expect.stringContaining("Did you mean nginx/least-conn?"),
    }),
  );
  const scenarios = [fakeScenario("slow"), fakeScenario("restart", false)];
  expect(() => chooseScenarios(["slwo"], false, scenarios)).toThrow(
    expect.objectContaining({ remedy: expect.stringContaining("slow") }),
  );
});

test("what was meant for another flag is told with that flag", () => {
  const remedyOf = (choose: () => unknown): unknown => {
    try {
      return choose();
    } catch (error) {
      return error instanceof CommandFailure ? error.remedy : error;
    }
  };
  expect(remedyOf(() => chooseTargets(["http://127.0.0.1:80"], known))).toContain(
    "write --url http://127.0.0.1:80.",
  );
  expect(remedyOf(() => chooseTargets(["stalls"], known))).toContain("write --scenario stalls.");
  const scenarios = [fakeScenario("slow"), fakeScenario("stalls")];
  expect(remedyOf(() => chooseScenarios(["slow,stalls"], false, scenarios))).toContain(
    "Write --scenario slow --scenario stalls.",
  );
});

test("without names the quick set of scenarios runs, or all of them", () => {
  const scenarios = [fakeScenario("slow"), fakeScenario("restart", false), fakeScenario("healthy")];
  expect(names(chooseScenarios([], false, scenarios))).toEqual(["slow", "healthy"]);
  expect(names(chooseScenarios([], true, scenarios))).toHaveLength(3);
  expect(names(chooseScenarios(["restart", "slow", "restart"], false, scenarios))).toEqual([
    "restart",
    "slow",
  ]);
});
