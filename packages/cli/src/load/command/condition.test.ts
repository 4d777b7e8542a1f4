import { expect, test } from "vitest";
import { collectConditions, conditionFlag, objectiveFlag } from "./condition.ts";

test.each([
  ["p99>50ms", { kind: "quantile", clock: "response", quantile: 0.99 }, true, 50],
  ["p99.9 >= 1.5s", { kind: "quantile", clock: "response", quantile: 0.999 }, true, 1_500],
  ["ok.p99<80ms", { kind: "quantile", clock: "ok", quantile: 0.99 }, false, 80],
  ["service.p50>2ms", { kind: "quantile", clock: "service", quantile: 0.5 }, true, 2],
  ["lag.p99>2ms", { kind: "quantile", clock: "lag", quantile: 0.99 }, true, 2],
  ["first-byte.p99>2ms", { kind: "quantile", clock: "first-byte", quantile: 0.99 }, true, 2],
  ["errors>1%", { kind: "errors" }, true, 0.01],
  ["errors>0", { kind: "errors" }, true, 0],
  ["errors<=1%", { kind: "errors" }, false, 0.01],
  ["sent<99%", { kind: "sent-ratio" }, false, 0.99],
  ["sent<950/s", { kind: "sent-rate" }, false, 950],
])("%s is read", (text, measure, isAbove, bound) => {
  const isInclusive = text.includes("=");
  const read = { text: text.replaceAll(" ", ""), measure, isAbove, isInclusive, bound };
  expect(conditionFlag(text)).toEqual(read);
});

test.each([
  "",
  "p99",
  "p99>50",
  "p100>5ms",
  "p0>5ms",
  "p99=5ms",
  "p99>-5ms",
  "median>5ms",
  "errors>200%",
  "errors>5ms",
  "errors>1",
  "ok.errors>1%",
  "frog.p99>1ms",
  "sent<5ms",
  "p99>5ms p50>3ms",
])("%j is refused with an example", (text) => {
  expect(() => conditionFlag(text)).toThrow(/as 'p99>50ms'/);
});

test("an objective says what must hold, so it has an upper bound", () => {
  expect(objectiveFlag("p99<50ms").bound).toBe(50);
  expect(() => objectiveFlag("p99>50ms")).toThrow("It says what must hold. Write 'p99<50ms'.");
  for (const text of ["sent<99%", "sent>99%"])
    expect(() => objectiveFlag(text)).toThrow(/as 'p99<50ms' or 'errors<1%'/);
  for (const text of ["errors<0%", "p99<0ms"]) expect(() => objectiveFlag(text)).toThrow("below 0");
  expect(objectiveFlag("errors<=0%").bound).toBe(0);
  expect(() => objectiveFlag("50ms")).toThrow(/as 'p99<50ms' or 'errors<1%'/);
});

test("a condition that would fail the good runs is refused, and turned round in the message", () => {
  expect(() => collectConditions("p99 < 50ms")).toThrow("Write 'p99>50ms'");
  expect(() => collectConditions("errors<=1%")).toThrow("Write 'errors>=1%'");
  expect(() => collectConditions("sent>99%")).toThrow("Write 'sent<99%'");
  expect(collectConditions("p99>50ms", collectConditions("sent<950/s"))).toHaveLength(2);
});

test.each([
  ["p99", "in quotes"],
  ["p99>50", "Write 50ms or 50s"],
  ["errors>1", "write 1%"],
])("of %j the message says what is probably wrong", (text, hint) => {
  expect(() => conditionFlag(text)).toThrow(hint);
});
