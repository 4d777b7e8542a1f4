import { Histogram } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { IntervalLog, mergeIntervals } from "./interval-log.ts";

test("sealed early or late, on one thread or several, the intervals hold every request once", () => {
  const requests = fc.array(
    fc.record({
      atMs: fc.double({ min: 0, max: 999, noNaN: true }),
      micros: fc.nat(100_000),
      thread: fc.nat(2),
      seals: fc.boolean(),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(requests, (list) => {
      list.sort((a, b) => a.atMs - b.atMs);
      const logs = [new IntervalLog(100), new IntervalLog(100), new IntervalLog(100)];
      for (const { atMs, micros, thread, seals } of list) {
        const log = logs[thread];
        if (seals) log?.seal(atMs);
        const slot = log?.slotAt(atMs);
        if (slot === undefined) throw new Error("no slot");
        slot.sent++;
        slot.all.record(micros);
      }
      const merged = mergeIntervals(
        logs.map((log) => log.finish()),
        100,
        1_000,
      );
      expect(merged).toHaveLength(10);
      merged.forEach((interval, i) => {
        const mine = list.filter(({ atMs }) => Math.floor(atMs / 100) === i);
        const direct = new Histogram();
        for (const { micros } of mine) direct.record(micros);
        expect([interval.startMs, interval.lengthMs, interval.sent]).toEqual([
          i * 100,
          100,
          mine.length,
        ]);
        expect(interval.all.encode()).toEqual(direct.encode());
      });
    }),
  );
});

test("what is sealed holds no histogram: only intervals with open requests do", () => {
  const log = new IntervalLog(10);
  const seen = new Set<Histogram>();
  for (let i = 0; i < 1_000; i++) {
    const slot = log.slotAt(i * 10);
    slot.all.record(i);
    seen.add(slot.all);
    log.seal(i * 10 - 30);
  }
  expect(seen.size).toBeLessThan(8);
  expect(log.finish()).toHaveLength(1_000);
});
