import { describe, expect, test } from "vitest";
import { attemptsOf } from "./call.ts";
import { CallRig } from "./call-rig.testbed.ts";

describe("after a failure", () => {
  test("an early failure launches the next copy at once", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(3);
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "send b retry"]);
    expect(rig.copy(2).startMs).toBe(3);
  });

  test("with no retries left, an early failure brings the hedge forward", () => {
    const rig = new CallRig({ delayMs: 10, maxRetries: 0 });
    rig.start();
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
  });

  test("a retry prefers an untried endpoint, and may repeat one when there is no other", () => {
    const rig = new CallRig({ endpoints: "ab", maxRetries: 2 });
    rig.start();
    rig.fail(1);
    rig.fail(2);
    expect(rig.log).toEqual(["send a primary", "send b retry", "send a retry"]);
  });

  test("a fast failure never beats a copy that still runs", () => {
    const rig = new CallRig({ endpoints: "ab", delayMs: 10, maxRetries: 0 });
    rig.start();
    rig.runTo(10);
    rig.fail(2);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
    rig.runTo(50);
    rig.reply(1);
    expect(rig.log.at(-1)).toBe("settle");
  });

  test("all failed: every cause, the primary's first", () => {
    const rig = new CallRig({ delayMs: 10 });
    const c = rig.start();
    rig.runTo(10);
    rig.fail(2, { cause: "second" });
    rig.fail(3, { cause: "third" });
    rig.fail(1, { cause: "first" });
    expect(rig.log.at(-1)).toBe("settle all-failed");
    expect(attemptsOf(c).map((a) => a.cause)).toEqual(["first", "second", "third"]);
  });

  test("a write that may have reached a server is not sent again", () => {
    const rig = new CallRig();
    const c = rig.start({ idempotent: false });
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
    expect(c.skip).toBe("not_idempotent");
  });

  test("a write of which no byte was sent is sent to another endpoint", () => {
    const rig = new CallRig();
    rig.start({ idempotent: false });
    rig.fail(1, { unsent: true });
    expect(rig.log).toEqual(["send a primary", "send b primary"]);
    rig.fail(2);
    expect(rig.log.at(-1)).toBe("settle all-failed");
  });

  test("copies that reach no server are replaced three times, and then the call fails", () => {
    const rig = new CallRig({ endpoints: "abcdefgh" });
    rig.start();
    for (let n = 1; n <= 4; n++) rig.fail(n, { unsent: true });
    expect(rig.sent.map((a) => a.kind)).toEqual(["primary", "primary", "primary", "primary"]);
    expect(rig.log.at(-1)).toBe("settle all-failed");
  });

  test("a copy that reached no server costs no permit, and is no failure for the brake", () => {
    const rig = new CallRig();
    rig.policy.budget.granted = 0;
    rig.start();
    rig.fail(1, { unsent: true });
    rig.fail(2, { unsent: true });
    rig.reply(3);
    const { granted, refunded, failures } = rig.policy.budget;
    expect([granted - refunded, failures]).toEqual([0, 0]);
    expect(rig.log.at(-1)).toBe("settle");
  });

  test("a consumed body is not sent again, even if nothing of it arrived", () => {
    const rig = new CallRig();
    const c = rig.start({ replayable: false });
    rig.fail(1, { unsent: true });
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
    expect(c.skip).toBe("not_replayable");
  });

  test("below a level that hedges, a failure is handed up", () => {
    const rig = new CallRig();
    const c = rig.start({ upperLevel: true });
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
    expect(c.skip).toBe("upper_level");
  });

  test("a fatal answer ends the call and cancels the other copies", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(10);
    rig.machine.fatal(rig.copy(2), 10, "bad request");
    expect(rig.log).toEqual(["send a primary", "send b hedge", "cancel a", "settle fatal"]);
    expect(rig.policy.budget.failures).toBe(0);
  });

  test("nothing is sent once the deadline has passed, even if its timer is late", () => {
    const rig = new CallRig();
    rig.start({ deadlineMs: 20 });
    rig.nowMs = 20;
    rig.fail(1, { unsent: true });
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
  });
});

describe("when the server asks for quiet", () => {
  test("no copy before the time it asked for", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(3);
    rig.fail(1, { pushbackMs: 40 });
    rig.runTo(42);
    expect(rig.log).toEqual(["send a primary"]);
    rig.runTo(43);
    expect(rig.log).toEqual(["send a primary", "send b retry"]);
  });

  test.each([-1, Number.NaN])("%d means no copies at all, and running ones go on", (pushbackMs) => {
    const rig = new CallRig({ endpoints: "abcd", delayMs: 10, maxHedges: 3, maxRetries: 3 });
    rig.start();
    rig.runTo(10);
    rig.fail(2, { pushbackMs });
    rig.runTo(900);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
    rig.reply(1);
    expect(rig.log.at(-1)).toBe("settle");
  });

  test("a quiet time beyond the deadline ends the call now, not then", () => {
    const rig = new CallRig();
    const c = rig.start({ deadlineMs: 100 });
    rig.fail(1, { pushbackMs: 100 });
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
    expect(c.skip).toBe("pushback");
  });

  test("a caller may give up during the quiet time", () => {
    const rig = new CallRig();
    const c = rig.start();
    rig.fail(1, { pushbackMs: 50 });
    rig.machine.aborted(c, 5);
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary", "settle aborted"]);
    expect(rig.held()).toEqual([]);
  });
});
