import fc from "fast-check";
import { expect, test } from "vitest";
import { nth } from "../core/assert.ts";
import { Endpoint } from "./endpoint.ts";
import { Load } from "./load.ts";
import { fadeRatio } from "./load-fade.ts";
import type { LoadSignal } from "./options.ts";
import { fadedLatencyMs } from "./peak-ewma.ts";

function build(signal: LoadSignal, count: number, errorPenalty = true): [Load, Endpoint[]] {
  const load = new Load({ signal, errorPenalty, decayMs: 10_000 });
  const endpoints = Array.from({ length: count }, (_, i) => new Endpoint({ name: `e${i}` }));
  load.update(endpoints, 0);
  return [load, endpoints];
}

test("what is unused fades exponentially, never rises and never reaches zero", () => {
  for (const x of [0.001, 0.0039, 0.004, 0.1, 0.5, 1])
    expect(fadeRatio(x * 10_000, 1e-4)).toBeCloseTo(Math.exp(-x), 3);
  expect(fadeRatio(40_000, 1e-4) / Math.exp(-4)).toBeLessThan(1.06);
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.double({ min: 0, max: 1e4, noNaN: true }),
      (ageMs, moreMs) => {
        const ratio = fadeRatio(ageMs, 1e-4);
        expect(ratio).toBeGreaterThan(0);
        expect(fadeRatio(ageMs + moreMs, 1e-4)).toBeLessThanOrEqual(ratio);
      },
    ),
  );
  expect(fadeRatio(-5, 1e-4)).toBe(1);
});

test("reading a load changes nothing: twice is once, and later is as if never read before", () => {
  const [load, [e]] = build("peak-ewma", 1);
  if (e === undefined) throw new Error("one endpoint");
  load.observe(e, 80, "win", 0);
  load.observe(e, 1, "failed", 0);
  const before = { ...e };
  const later = load.of(e, 1, 5000);
  for (let nowMs = 0; nowMs <= 5000; nowMs += 100) load.of(e, 1, nowMs);
  expect(load.of(e, 1, 5000)).toBe(later);
  expect({ ...e }).toEqual(before);
});

test("a slower answer raises the estimate at once, faster ones lower it with time", () => {
  const [load, [e]] = build("peak-ewma", 1);
  if (e === undefined) throw new Error("one endpoint");
  load.observe(e, 10, "win", 0);
  load.observe(e, 100, "win", 1);
  expect(e.latencyMs).toBe(100);
  load.observe(e, 10, "win", 2);
  expect(e.latencyMs).toBeGreaterThan(99.9);
  load.observe(e, 10, "win", 10_002);
  expect(e.latencyMs).toBeCloseTo(10 + 90 * Math.exp(-1), 1);
});

test("what was cancelled, timed out or failed only ever raises the estimate", () => {
  for (const outcome of ["superseded", "cancelled", "failed", "fatal"] as const) {
    const [load, [e]] = build("peak-ewma", 1, false);
    if (e === undefined) throw new Error("one endpoint");
    load.observe(e, 10, "win", 0);
    const projectedMs = fadedLatencyMs(e, 1000, 1 / 10_000);
    load.observe(e, 1, outcome, 1000);
    expect(fadedLatencyMs(e, 1000, 1 / 10_000)).toBe(projectedMs);
    load.observe(e, 30, outcome, 1000);
    expect(e.latencyMs).toBe(30);
  }
});

test("an attempt that could not be placed says nothing about the endpoint", () => {
  const [load, [e]] = build("peak-ewma", 1);
  if (e === undefined) throw new Error("one endpoint");
  load.observe(e, 10, "win", 0);
  const before = { ...e };
  load.observe(e, 500, "ignored", 1000);
  expect({ ...e }).toEqual(before);
});

test("an endpoint that hangs is seen before it answers: the age of what waits counts", () => {
  const [load, [hanging, fine]] = build("peak-ewma", 2);
  if (hanging === undefined || fine === undefined) throw new Error("two endpoints");
  for (const e of [hanging, fine]) {
    load.observe(e, 10, "win", 0);
    e.outstanding = 2;
    e.waiting = 2;
    e.waitingSinceSumMs = 2 * 95;
  }
  hanging.waitingSinceSumMs = 2 * 20;
  expect(load.of(hanging, 1, 100) / load.of(fine, 1, 100)).toBeCloseTo(8, 0);
  hanging.waiting = 0;
  hanging.waitingSinceSumMs = 0;
  expect(load.of(hanging, 1, 100)).toBe(load.of(fine, 1, 100));
});

test("an unmeasured endpoint counts as the median of the measured, and while none is, only the outstanding count", () => {
  const [load, endpoints] = build("peak-ewma", 4);
  const [a, b, c, fresh] = endpoints as [Endpoint, Endpoint, Endpoint, Endpoint];
  b.outstanding = 1;
  expect(load.notBusier(a, b, 1, 0)).toBe(true);
  expect(load.notBusier(b, a, 1, 0)).toBe(false);
  b.outstanding = 0;
  for (const [e, latencyMs] of [
    [a, 10],
    [b, 30],
    [c, 90],
  ] as const)
    load.observe(e, latencyMs, "win", 0);
  expect(load.of(fresh, 1, 0)).toBe(30);
  expect(load.of(fresh, 1, 10_000) / load.of(b, 1, 10_000)).toBeCloseTo(1, 5);
  load.observe(fresh, 5, "failed", 0);
  expect(fresh.latencyMs).toBeLessThan(0);
  load.observe(fresh, 200, "superseded", 0);
  expect(fresh.latencyMs).toBe(200);
});

test("work adds the cost of the call to what is under way", () => {
  const [load, [a, b]] = build("work", 2);
  if (a === undefined || b === undefined) throw new Error("two endpoints");
  a.outstanding = 1;
  a.work = 90;
  b.outstanding = 3;
  b.work = 30;
  expect(load.notBusier(b, a, 10, 0)).toBe(true);
  expect([load.of(a, 10, 0), load.of(b, 10, 0)]).toEqual([100, 40]);
});

test("a scan and a comparison agree, for every signal, weight and error share", () => {
  const state = fc.record({
    outstanding: fc.integer({ min: 1, max: 50 }),
    weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
    latencyMs: fc.double({ min: 0.1, max: 1000, noNaN: true }),
    failures: fc.nat({ max: 60 }),
  });
  fc.assert(
    fc.property(
      fc.constantFrom<LoadSignal>("outstanding", "work", "peak-ewma"),
      fc.tuple(state, state),
      fc.nat({ max: 30_000 }),
      (signal, states, nowMs) => {
        const [load, endpoints] = build(signal, 2);
        for (const [i, { outstanding, weight, latencyMs, failures }] of states.entries()) {
          const e = nth(endpoints, i);
          e.outstanding = outstanding;
          e.work = outstanding * 2;
          e.weight = weight;
          load.observe(e, latencyMs, "win", 0);
          for (let n = 0; n < failures; n++) load.observe(e, 0, "failed", 0);
        }
        load.update(endpoints, 0);
        const [a, b] = endpoints as [Endpoint, Endpoint];
        const ratio = load.of(a, 1, nowMs) / load.of(b, 1, nowMs);
        fc.pre(Math.abs(ratio - 1) > 1e-9);
        expect(load.notBusier(a, b, 1, nowMs)).toBe(ratio < 1);
        expect(load.notBusier(b, a, 1, nowMs)).toBe(ratio > 1);
      },
    ),
  );
});

test("a probe that fails restores the whole error share, one that succeeds lowers what has faded", () => {
  const [load, [e]] = build("outstanding", 1);
  if (e === undefined) throw new Error("one endpoint");
  for (let i = 0; i < 500; i++) load.observe(e, 1, "failed", 0);
  const shunned = load.worth(e, 0);
  expect(shunned).toBeCloseTo(0.05 ** 4, 8);
  expect(load.worth(e, 15_000)).toBeGreaterThan(0.3);
  load.observe(e, 1, "win", 15_000);
  expect(load.worth(e, 15_000)).toBeGreaterThan(0.3);
  load.observe(e, 1, "failed", 15_001);
  expect(load.worth(e, 15_001)).toBeLessThan(shunned * 10);
});
