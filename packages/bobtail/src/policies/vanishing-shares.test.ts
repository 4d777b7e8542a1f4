import { expect, test } from "vitest";
import { Endpoint } from "./endpoint.ts";
import { noteFailure, noteSuccess } from "./error-penalty.ts";
import { noteRaceLost, noteRaceWon } from "./lost-races.ts";

const LEAST_RATIO = 1e-9;
const KEPT_RATIO = 0.98;

test.each([
  {
    share: "errors",
    raise: (e: Endpoint) => noteFailure(e, 0),
    lower: noteSuccess,
    read: (e: Endpoint) => e.errorShareRatio,
  },
  {
    share: "lost races",
    raise: noteRaceLost,
    lower: noteRaceWon,
    read: (e: Endpoint) => e.lostShareRatio,
  },
])(
  "good news takes the share of $share down to exactly 0, and not before it is below one in a billion",
  ({ raise, lower, read }) => {
    for (const bad of [1, 2, 50, 1000]) {
      const e = new Endpoint({ name: "a" });
      for (let i = 0; i < bad; i++) raise(e);
      let expected = read(e);
      expect(expected).toBeGreaterThan(0);
      while (expected >= LEAST_RATIO) {
        expect(read(e)).toBeCloseTo(expected, 15);
        expect(read(e)).toBeGreaterThan(0);
        expected *= KEPT_RATIO;
        lower(e);
      }
      expect(read(e)).toBe(0);
      lower(e);
      expect(read(e)).toBe(0);
      raise(e);
      expect(read(e)).toBeCloseTo(1 - KEPT_RATIO, 15);
    }
  },
);
