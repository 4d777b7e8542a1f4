import fc from "fast-check";
import { expect, test } from "vitest";
import { commitsAtFirstByte, curableOf, judgeAnswer, retryAfterMs } from "./fetch-answer.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

test("Retry-After is seconds or a date; one in the past asks for nothing", () => {
  expect(retryAfterMs("120", NOW_MS)).toBe(120_000);
  expect(retryAfterMs(" 0 ", NOW_MS)).toBe(0);
  expect(retryAfterMs(new Date(NOW_MS + 5000).toUTCString(), NOW_MS)).toBe(5000);
  expect(retryAfterMs(new Date(NOW_MS - 5000).toUTCString(), NOW_MS)).toBe(0);
});

test("what is neither seconds nor a date means no copy at all", () => {
  for (const value of ["", "soon", "1.5s", "NaN"]) expect(retryAfterMs(value, NOW_MS)).toBe(-1);
});

test("whatever a server writes there, the result is a number of milliseconds or -1", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const delayMs = retryAfterMs(value, NOW_MS);
      expect(delayMs === -1 || delayMs >= 0).toBe(true);
    }),
  );
});

test("only the statuses of retry.on, and 429 that asks for quiet, are failures", () => {
  const curable = curableOf(undefined);
  const failures = Array.from({ length: 400 }, (_, i) => 200 + i).filter(
    (status) => !judgeAnswer(status, undefined, curable).isWin,
  );
  expect(failures).toEqual([502, 503, 504]);
  expect(judgeAnswer(429, "7", curable)).toEqual({ isWin: false, pushbackMs: 7000 });
  expect(judgeAnswer(200, "7", curable).isWin).toBe(true);
  expect(judgeAnswer(503, null, curable)).toEqual({ isWin: false, pushbackMs: 0 });
  expect(judgeAnswer(503, null, curableOf({ on: [500] })).isWin).toBe(true);
});

test("an event stream begins at its first byte, all else at its headers, unless the service says so", () => {
  expect(commitsAtFirstByte(undefined, "Text/Event-Stream; charset=utf-8")).toBe(true);
  expect(commitsAtFirstByte(undefined, "text/plain")).toBe(false);
  expect(commitsAtFirstByte(undefined, null)).toBe(false);
  expect(commitsAtFirstByte("headers", "text/event-stream")).toBe(false);
  expect(commitsAtFirstByte("first-byte", undefined)).toBe(true);
});
