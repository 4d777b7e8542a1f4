import { seededRng } from "bobtail/engine";
import { expect, test } from "vitest";
import { capacityPerSec } from "./fleet-options.ts";
import { drawServiceMs, type ServiceLaw, stretchLaw } from "./service-law.ts";

function meanOf(law: ServiceLaw, draws: number): number {
  const rng = seededRng(5);
  let sumMs = 0;
  for (let i = 0; i < draws; i++) sumMs += drawServiceMs(law, rng);
  return sumMs / draws;
}

test("service times have the mean that was asked for, times the factor, plus the stalls", () => {
  expect(meanOf({ meanMs: 10, slowFactor: 1 }, 200_000)).toBeCloseTo(10, 0);
  expect(meanOf({ meanMs: 10, slowFactor: 5 }, 200_000) / 50).toBeCloseTo(1, 1);
  const stall = { shareRatio: 0.01, minMs: 50, maxMs: 150 };
  expect(meanOf({ meanMs: 10, slowFactor: 1, stall }, 200_000)).toBeCloseTo(11, 0);
});

test("with and without stalls the same seed gives the same requests the same base times", () => {
  const plain: ServiceLaw = { meanMs: 10, slowFactor: 1 };
  const stalling: ServiceLaw = { ...plain, stall: { shareRatio: 0.3, minMs: 1_000, maxMs: 1_000 } };
  const a = seededRng(9);
  const b = seededRng(9);
  let stalls = 0;
  for (let i = 0; i < 1_000; i++) {
    const baseMs = drawServiceMs(plain, a);
    const withStallMs = drawServiceMs(stalling, b);
    if (withStallMs > baseMs) stalls++;
    expect([0, 1_000]).toContain(Math.round(withStallMs - baseMs));
  }
  expect(stalls).toBeGreaterThan(200);
});

test("ten backends of four workers at 10 ms, one five times slower, serve 3,680 a second", () => {
  const backends = Array.from({ length: 10 }, (_, index) => ({
    law: { meanMs: 10, slowFactor: index === 0 ? 5 : 1 },
  }));
  expect(capacityPerSec(backends)).toBeCloseTo(3_680, 6);
});

test("a stretched law draws every time longer by the factor", () => {
  const law: ServiceLaw = {
    meanMs: 10,
    slowFactor: 5,
    stall: { shareRatio: 0.5, minMs: 50, maxMs: 150 },
  };
  const a = seededRng(2);
  const b = seededRng(2);
  for (let i = 0; i < 100; i++)
    expect(drawServiceMs(stretchLaw(law, 3), b)).toBeCloseTo(3 * drawServiceMs(law, a), 6);
});
