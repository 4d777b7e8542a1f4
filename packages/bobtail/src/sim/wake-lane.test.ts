import fc from "fast-check";
import { expect, test } from "vitest";
import { LANE } from "./event-codes.ts";
import { EventQueue } from "./event-queue.ts";
import { Request } from "./request.ts";
import type { WakeLane } from "./wake-lane.ts";
import { Wakes } from "./wakes.ts";

const request = () => new Request({ key: "any", delayMs: 0, medianMs: 0 }, undefined as never);

test("every wake that is not dropped comes when it is due, in order, none early and none late", () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 50 }),
    delayMs: fc.oneof(fc.constant(20), fc.integer({ min: 0, max: 100 })),
    isDeadline: fc.boolean(),
    drop: fc.nat(3),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const events = new EventQueue();
      const wakes = new Wakes(events);
      const due = new Map<Request, number>();
      let nowMs = 0;
      const fire = (untilMs: number) => {
        while (events.pop(untilMs)) {
          nowMs = events.timeMs;
          const woken: Request[] = [];
          if (events.code === LANE) {
            const lane = events.subject as WakeLane;
            for (let r = lane.due(nowMs); r !== undefined; r = lane.due(nowMs)) woken.push(r);
          } else {
            const r = events.subject as Request;
            r.event = -1;
            woken.push(r);
          }
          for (const r of woken) {
            expect(due.get(r)).toBe(nowMs);
            due.delete(r);
          }
        }
        nowMs = Math.max(nowMs, untilMs);
        for (const atMs of due.values()) expect(atMs).toBeGreaterThan(untilMs);
      };
      for (const { afterMs, delayMs, isDeadline, drop } of steps) {
        fire(nowMs + afterMs);
        const r = request();
        wakes.set(r, nowMs + delayMs, isDeadline);
        due.set(r, nowMs + delayMs);
        const [oldest] = due.keys();
        if (drop > 0 || oldest === undefined) continue;
        wakes.drop(oldest);
        due.delete(oldest);
      }
      fire(1e6);
      expect(due.size).toBe(0);
      expect(events.size).toBe(0);
    }),
  );
});
