import { expect, test } from "vitest";
import { Endpoint } from "./endpoint.ts";
import { Load } from "./load.ts";
import { lostRacesFactor, noteRaceLost, noteRaceWon } from "./lost-races.ts";

function peakEwma(names: readonly string[]): [Load, Endpoint[]] {
  const load = new Load({ signal: "peak-ewma", errorPenalty: true, decayMs: 10_000 });
  const endpoints = names.map((name) => new Endpoint({ name }));
  load.update(endpoints, 0);
  return [load, endpoints];
}

test("of two endpoints that win with the same latency, the one that loses races more often is busier", () => {
  const [load, [beaten, other]] = peakEwma(["beaten", "other"]);
  if (beaten === undefined || other === undefined) throw new Error("two endpoints");
  for (let i = 0; i < 200; i++) {
    load.observe(beaten, 10, i % 2 === 0 ? "win" : "superseded", i);
    load.observe(other, 10, "win", i);
  }
  expect(load.notBusier(other, beaten, 1, 200)).toBe(true);
  expect(load.notBusier(beaten, other, 1, 200)).toBe(false);
  expect(load.of(beaten, 1, 200) / load.of(other, 1, 200)).toBeGreaterThan(8);
});

test("races that every endpoint loses alike change no comparison", () => {
  const [load, endpoints] = peakEwma(["a", "b"]);
  for (let i = 0; i < 500; i++) {
    for (const e of endpoints) load.observe(e, 10, i % 20 === 0 ? "superseded" : "win", i);
  }
  const [a, b] = endpoints.map((e) => load.of(e, 1, 500));
  expect(a).toBe(b);
});

test("a lost race is no failure: it leaves the error share alone", () => {
  const [load, [e]] = peakEwma(["a"]);
  if (e === undefined) throw new Error("one endpoint");
  for (let i = 0; i < 100; i++) load.observe(e, 10, "superseded", i);
  expect(e.errorShareRatio).toBe(0);
  expect(load.worth(e, 100)).toBe(1);
});

test("an endpoint that lost every race is tried again: the factor is bounded and fades with the estimate", () => {
  const e = new Endpoint({ name: "a" });
  for (let i = 0; i < 1000; i++) noteRaceLost(e);
  expect(lostRacesFactor(e, 1)).toBeCloseTo(256, 0);
  expect(lostRacesFactor(e, Math.exp(-2))).toBeLessThan(2);
  for (let i = 0; i < 200; i++) noteRaceWon(e);
  expect(lostRacesFactor(e, 1)).toBeLessThan(1.1);
});
