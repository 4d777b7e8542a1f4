import fc from "fast-check";
import { expect, test } from "vitest";
import { CallMachine } from "./call-machine.ts";
import { runSchedule, runServiceSchedule } from "./call-schedule.testbed.ts";
import type { MachineFactory } from "./call-world.testbed.ts";

const create: MachineFactory = (policy, port, observer) => new CallMachine(policy, port, observer);

const schedules = fc.array(fc.nat(255), { minLength: 11, maxLength: 240, size: "max" });

const RARE_PLACES = [
  ..."report inside,report of another inside,call started inside,other event inside"
    .split(",")
    .flatMap((what) => [`${what} send`, `${what} cancel`, `${what} settle`]),
  ..."success,all-failed,fatal,deadline,aborted,shed,no-endpoint,body"
    .split(",")
    .map((end) => `call: ${end}`),
  ..."win,failed,fatal,ignored,superseded,cancelled"
    .split(",")
    .flatMap((outcome) => [`primary: ${outcome}`, `hedge: ${outcome}`, `retry: ${outcome}`]),
  ..."budget,not_idempotent,not_replayable,deadline,no_alternative,upper_level,pushback"
    .split(",")
    .map((reason) => `skip: ${reason}`),
  "call of three copies or more",
];

test("in 12,000 random schedules every attempt ends once, every count returns to zero and nothing happens after settle", () => {
  const reached = new Map<string, number>();
  fc.assert(
    fc.property(schedules, (schedule) => {
      const report = runSchedule(schedule, create);
      for (const place of report.reached) reached.set(place, (reached.get(place) ?? 0) + 1);
      expect(report.breaches).toEqual([]);
    }),
    { numRuns: 12_000, seed: 20_131 },
  );
  // Schedules that never get anywhere would prove nothing.
  expect(RARE_PLACES.filter((place) => (reached.get(place) ?? 0) < 50)).toEqual([]);
});

test("in 3,000 random schedules a service with real balancers, budget and hedger keeps the same rules", () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(schedules, (schedule) => {
      const report = runServiceSchedule(schedule);
      for (const place of report.reached) reached.add(place);
      expect(report.breaches).toEqual([]);
    }),
    { numRuns: 3_000, seed: 4_242 },
  );
  expect(RARE_PLACES.filter((place) => !reached.has(place))).toEqual([]);
});
