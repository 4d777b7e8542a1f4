import fc from "fast-check";
import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";
import { WindowedHistogram } from "./windowed-histogram.ts";

test("a window of three slots holds exactly what the last three slots of time brought", () => {
  const events = fc.array(fc.record({ stepMs: fc.nat(25_000), value: fc.nat(1_000_000) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(events, fc.nat(50_000), (list, afterMs) => {
      const windowed = new WindowedHistogram({ slotCount: 3, slotMs: 10_000 });
      let nowMs = 0;
      const seen = list.map(({ stepMs, value }) => {
        nowMs += stepMs;
        windowed.record(value, nowMs);
        return { atMs: nowMs, value };
      });
      nowMs += afterMs;
      const expected = new Histogram();
      const oldest = Math.floor(nowMs / 10_000) - 3;
      for (const { atMs, value } of seen)
        if (Math.floor(atMs / 10_000) > oldest) expected.record(value);
      expect(windowed.snapshot(nowMs).encode()).toEqual(expected.encode());
    }),
  );
});

test("reading twice is reading once, at any time and in any order", () => {
  const times = fc.array(fc.tuple(fc.nat(100_000), fc.boolean()), { maxLength: 40 });
  fc.assert(
    fc.property(times, (list) => {
      const read = new WindowedHistogram();
      const unread = new WindowedHistogram();
      let nowMs = 0;
      for (const [stepMs, reads] of list) {
        nowMs += stepMs;
        read.record(stepMs, nowMs);
        unread.record(stepMs, nowMs);
        if (reads) read.quantile(0.5, nowMs + 1_000_000);
      }
      expect(read.snapshot(nowMs).encode()).toEqual(unread.snapshot(nowMs).encode());
    }),
  );
});

test("41: after a silence nothing of the past is left, and a year of silence is one step", () => {
  const windowed = new WindowedHistogram();
  windowed.record(5, 1000);
  expect(windowed.quantile(0.5, 29_999)).toBe(5);
  expect(windowed.quantile(0.5, 30_000)).toBeNaN();
  windowed.record(7, 3e10);
  expect(windowed.snapshot(3e10).encode()).toEqual(
    (() => {
      const one = new Histogram();
      one.record(7);
      return one.encode();
    })(),
  );
});

test("a time before the latest counts as the latest, whatever the clock's origin", () => {
  const windowed = new WindowedHistogram({ slotMs: 10 });
  windowed.record(1, -95);
  windowed.record(2, -55);
  windowed.record(3, -95);
  const snapshot = windowed.snapshot(-55);
  expect([snapshot.count, snapshot.min, snapshot.max]).toEqual([2, 2, 3]);
});

test("a snapshot is the caller's own", () => {
  const windowed = new WindowedHistogram();
  windowed.record(5, 0);
  windowed.snapshot(0).reset();
  expect(windowed.snapshot(0).count).toBe(1);
});

test("options out of range are refused by name", () => {
  expect(() => new WindowedHistogram({ slotCount: 0 })).toThrow(/slotCount.*\[1, 60\]/);
  expect(() => new WindowedHistogram({ slotMs: 0 })).toThrow(/slotMs/);
  expect(() => new WindowedHistogram({ maxValue: -1 })).toThrow(/maxValue/);
});
