import { describe, expect, test } from "vitest";
import { attemptsOf, Call } from "./call.ts";
import { CallRig } from "./call-rig.testbed.ts";

describe("when a hedge is sent", () => {
  test("a slow idempotent call gets a second copy at another endpoint", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(9);
    expect(rig.log).toEqual(["send a primary"]);
    rig.runTo(10);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
  });

  test("a call that is not known to be idempotent is never hedged", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start({ idempotent: false });
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary"]);
  });

  test("a call whose body cannot be replayed is never hedged", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start({ replayable: false });
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary"]);
  });

  test("a call that an upper level already hedges is not hedged again", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start({ upperLevel: true });
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary"]);
  });

  test("a class without a delay is not hedged", () => {
    const rig = new CallRig({ delayMs: Number.POSITIVE_INFINITY });
    rig.start();
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary"]);
  });

  test("with one endpoint there is no hedge, and no permit is spent on it", () => {
    const rig = new CallRig({ endpoints: "a", delayMs: 10 });
    rig.start();
    rig.runTo(500);
    expect(rig.log).toEqual(["send a primary"]);
    expect(rig.machine.stats.skipped.no_alternative).toBe(1);
    expect(rig.policy.budget.granted).toBe(0);
  });

  test("a virtual endpoint may get the hedge of its own primary", () => {
    const rig = new CallRig({ endpoints: "A", delayMs: 10 });
    rig.start();
    rig.runTo(10);
    expect(rig.log).toEqual(["send A primary", "send A hedge"]);
  });

  test("no hedge when the time left is under the median of its class", () => {
    const rig = new CallRig({ delayMs: 10, medianMs: 20 });
    rig.start({ deadlineMs: 29 });
    rig.runTo(28);
    expect(rig.log).toEqual(["send a primary"]);
    expect(rig.machine.stats.skipped.deadline).toBe(1);

    const enough = new CallRig({ delayMs: 10, medianMs: 20 });
    enough.start({ deadlineMs: 30 });
    enough.runTo(28);
    expect(enough.log).toEqual(["send a primary", "send b hedge"]);
  });

  test("no more hedges than configured, each counted from the launch before it", () => {
    const rig = new CallRig({ endpoints: "abcd", delayMs: 10, maxHedges: 2 });
    rig.start();
    rig.runTo(4);
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "send b retry"]);
    rig.runTo(13);
    expect(rig.sent).toHaveLength(2);
    rig.runTo(14);
    expect(rig.log[2]).toBe("send c hedge");
    rig.runTo(23);
    expect(rig.sent).toHaveLength(3);
    rig.runTo(900);
    expect(rig.log.slice(2)).toEqual(["send c hedge", "send d hedge"]);
  });
});

describe("what a copy is paid from", () => {
  test("a refused budget means no hedge, never an error", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 0 });
    const c = rig.start();
    rig.runTo(500);
    expect(rig.log).toEqual(["send a primary"]);
    expect([c.state, c.skip]).toEqual(["running", "budget"]);
    rig.reply(1);
    expect(rig.log).toEqual(["send a primary", "settle"]);
    expect(c.failure).toBeUndefined();
  });

  test("the pick comes before the permit: no alternative, nothing withdrawn or refused", () => {
    const rig = new CallRig({ endpoints: "ab", perEndpoint: 1, delayMs: 10 });
    rig.start({ idempotent: false });
    rig.start();
    rig.runTo(10);
    const { granted, refused, refunded } = rig.policy.budget;
    expect([granted, refused, refunded]).toEqual([0, 0, 0]);
  });

  test("permit and endpoint are taken when the hedge is launched, not when its timer is set", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    expect([rig.policy.budget.granted, rig.policy.balancer.pickCount]).toEqual([0, 1]);
    rig.runTo(9);
    expect([rig.policy.budget.granted, rig.policy.balancer.pickCount]).toEqual([0, 1]);
    // The set changes while the timer runs: the hedge goes where the set is now.
    rig.policy.balancer.update([rig.endpoint(0), rig.endpoint(2)]);
    rig.runTo(10);
    expect(rig.log).toEqual(["send a primary", "send c hedge"]);
    expect(rig.policy.budget.granted).toBe(1);
  });

  test("hedges and retries draw on the same budget", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 1 });
    rig.start();
    rig.runTo(10);
    rig.fail(1);
    rig.fail(2);
    expect(rig.log).toEqual(["send a primary", "send b hedge", "settle all-failed"]);
    expect(rig.machine.stats.skipped.budget).toBe(2);
  });

  test("a copy that could not be placed gives its permit back and goes elsewhere", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 1 });
    rig.start();
    rig.runTo(10);
    rig.machine.ignored(rig.copy(2), rig.nowMs, "pool full");
    expect(rig.log).toEqual(["send a primary", "send b hedge", "send c hedge"]);
    const { granted, refunded, failures } = rig.policy.budget;
    expect([granted, refunded, failures]).toEqual([2, 1, 0]);
    expect(rig.endpoint(1).failures).toBe(0);
  });

  test("a primary that could be placed nowhere fails with every reason, and costs no permit", () => {
    const rig = new CallRig({ endpoints: "ab" });
    const c = rig.start();
    rig.machine.ignored(rig.copy(1), 0, "a is full");
    rig.machine.ignored(rig.copy(2), 0, "b is full");
    expect(rig.log).toEqual(["send a primary", "send b primary", "settle all-failed"]);
    expect(attemptsOf(c).map((a) => a.cause)).toEqual(["a is full", "b is full"]);
    expect([rig.policy.budget.granted, rig.policy.budget.refunded]).toEqual([0, 0]);
  });

  test("an endpoint that can place nothing does not hold a call for ever", () => {
    const rig = new CallRig({ endpoints: "A" });
    rig.onSend = (a) => rig.machine.ignored(a, rig.nowMs, "full");
    const c = rig.start();
    expect(c.failure).toBe("all-failed");
    expect(c.launched).toBeLessThanOrEqual(32);
  });
});

describe("from commit to settle", () => {
  test("losers are cancelled, then the call settles, once and last", () => {
    const rig = new CallRig({ endpoints: "abc", delayMs: 10, maxHedges: 2 });
    rig.start();
    rig.runTo(20);
    rig.reply(2);
    expect(rig.log.slice(3)).toEqual(["cancel c", "cancel a", "settle"]);
    rig.runTo(2000);
    expect(rig.log).toHaveLength(6);
    expect(rig.held()).toEqual([]);
  });

  test("commit stops retries, hedges and attempt timeouts", () => {
    const rig = new CallRig({ delayMs: 10, maxRetries: 3, attemptTimeoutMs: 30 });
    rig.start();
    rig.runTo(5);
    rig.commit(1);
    rig.runTo(500);
    expect(rig.log).toEqual(["send a primary"]);
    rig.fail(1, { cause: "reset" });
    expect(rig.log).toEqual(["send a primary", "settle body"]);
  });

  test("after commit the deadline still holds", () => {
    const rig = new CallRig();
    const c = rig.start({ deadlineMs: 100 });
    rig.commit(1);
    rig.runTo(100);
    expect(rig.log).toEqual(["send a primary", "cancel a", "settle deadline"]);
    expect(c.winner?.outcome).toBe("cancelled");
    expect(rig.policy.budget.failures).toBe(0);
  });

  test("a winner that turns out broken, fatal or unplaced ends the call without another copy", () => {
    for (const end of ["failed", "fatal", "ignored"] as const) {
      const rig = new CallRig({ maxRetries: 3 });
      rig.start();
      rig.commit(1);
      rig.machine[end](rig.copy(1), 1, "broken");
      expect(rig.log).toEqual(["send a primary", "settle body"]);
      expect(rig.held()).toEqual([]);
    }
  });

  test("an abort ends every copy, the winner too", () => {
    const rig = new CallRig({ endpoints: "abc", delayMs: 10, maxHedges: 2 });
    const running = rig.start();
    rig.runTo(20);
    rig.machine.aborted(running, 20);
    expect(rig.log.slice(3)).toEqual(["cancel c", "cancel b", "cancel a", "settle aborted"]);

    const committed = rig.start();
    rig.commit(4);
    rig.machine.aborted(committed, 21);
    expect(rig.log.slice(-2)).toEqual(["cancel a", "settle aborted"]);
    expect(rig.policy.budget.failures).toBe(0);
    expect(rig.held()).toEqual([]);
  });

  test("an abort after the end, or before the start, changes nothing", () => {
    const rig = new CallRig();
    const c = rig.start();
    rig.reply(1);
    rig.machine.aborted(c, 1);
    rig.machine.aborted(new Call(rig.policy.hedger.cls, undefined), 1);
    expect(rig.log).toEqual(["send a primary", "settle"]);
    expect(rig.machine.stats.aborted).toBe(0);
  });

  test("a call has at most one wake, for the nearest of hedge, attempt timeout and deadline", () => {
    const rig = new CallRig({ delayMs: 30, attemptTimeoutMs: 20, maxRetries: 0, maxHedges: 1 });
    const c = rig.start({ deadlineMs: 60 });
    expect([...rig.wakes]).toEqual([[c, 20]]);
    rig.runTo(20);
    expect(rig.log).toEqual(["send a primary", "cancel a", "send b hedge"]);
    expect([...rig.wakes]).toEqual([[c, 40]]);
    rig.commit(2);
    expect([...rig.wakes]).toEqual([[c, 60]]);
    rig.reply(2);
    expect(rig.wakes.size).toBe(0);
  });

  test("a wake that comes early or late does no harm", () => {
    const rig = new CallRig({ delayMs: 10 });
    const c = rig.start({ deadlineMs: 100 });
    rig.machine.woke(c, 1);
    rig.machine.woke(c, 2);
    expect([...rig.wakes]).toEqual([[c, 10]]);
    rig.nowMs = 50;
    rig.machine.woke(c, 50);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
    rig.machine.woke(c, 150);
    expect(rig.log.at(-1)).toBe("settle deadline");
    rig.machine.woke(c, 151);
    expect(rig.held()).toEqual([]);
  });

  test("an attempt that waits too long is cancelled, counts as a failure and is replaced", () => {
    const rig = new CallRig({ delayMs: Number.POSITIVE_INFINITY, attemptTimeoutMs: 20 });
    rig.start();
    rig.runTo(20);
    expect(rig.log).toEqual(["send a primary", "cancel a", "send b retry"]);
    expect(rig.copy(1).cause).toMatchObject({ code: "ERR_BOBTAIL_ATTEMPT_TIMEOUT" });
    expect(rig.endpoint(0).failures).toBe(1);
    // It had not answered by then: a lower bound of its latency, not a sample of it.
    expect(rig.policy.hedger.recorded).toEqual([{ latencyMs: 20, censored: true }]);
  });

  test("at the deadline, endpoints that had half of the time are to blame, later copies are not", () => {
    const rig = new CallRig({ delayMs: 60 });
    rig.start({ deadlineMs: 100 });
    rig.runTo(100);
    expect(rig.log.slice(2)).toEqual(["cancel b", "cancel a", "settle deadline"]);
    expect([rig.endpoint(0).failures, rig.endpoint(1).failures]).toEqual([1, 0]);
  });
});
