import { describe, expect, test } from "vitest";
import type { Attempt } from "./attempt.ts";
import { CallRig } from "./call-rig.testbed.ts";

describe("limits", () => {
  test("a call waits when every endpoint is full, and is admitted when a place is free", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    rig.start();
    const second = rig.start();
    expect([second.state, rig.machine.stats.pending]).toEqual(["pending", 1]);
    rig.reply(1);
    expect([second.state, rig.machine.stats.pending]).toEqual(["running", 0]);
    expect(rig.log).toEqual(["send a primary", "settle", "send a primary"]);
  });

  test("a call waits when the service has its most attempts, whatever room its endpoints have", () => {
    const rig = new CallRig({ maxOutstanding: 2, delayMs: 10 });
    rig.start();
    rig.start();
    const third = rig.start();
    rig.runTo(50);
    expect(rig.sent).toHaveLength(2);
    expect(rig.machine.stats.skipped.no_alternative).toBe(2);
    expect(rig.policy.budget.granted).toBe(0);
    rig.reply(2);
    expect(third.state).toBe("running");
  });

  test("pending calls are served in the order they came, and new ones queue behind them", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    const served: number[] = [];
    rig.onSend = (a) => served.push(a.call.cost);
    for (const cost of [1, 2, 3]) rig.start({ cost });
    // A new call is started at the very moment at which a place is free.
    rig.onSettle = () => {
      rig.onSettle = () => {};
      rig.start({ cost: 4 });
    };
    for (const n of [1, 2, 3, 4]) rig.reply(n);
    expect(served).toEqual([1, 2, 3, 4]);
    expect(rig.held()).toEqual([]);
  });

  test("a call over the pending limit is shed before anything is sent", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1, maxPending: 1 });
    rig.start();
    rig.start();
    const third = rig.start();
    expect([third.failure, rig.machine.stats.shed]).toEqual(["shed", 1]);
    expect(rig.log).toEqual(["send a primary", "settle shed"]);
  });

  test("a call to a service without endpoints fails at once", () => {
    const rig = new CallRig({ endpoints: "" });
    expect(rig.start().failure).toBe("no-endpoint");
    expect(rig.log).toEqual(["settle no-endpoint"]);
  });

  test("a pending call ends at its deadline, and a spurious wake does not forget it", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    rig.start();
    const second = rig.start({ deadlineMs: 30 });
    rig.machine.woke(second, 5);
    rig.runTo(30);
    expect([second.failure, rig.machine.stats.pending]).toEqual(["deadline", 0]);
    expect(rig.log).toEqual(["send a primary", "settle deadline"]);
  });

  test("a pending call whose deadline has passed is not sent when a place is free, nor does it hold up others", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    rig.start();
    const second = rig.start({ deadlineMs: 30 });
    const third = rig.start();
    rig.nowMs = 31; // Its timer is late.
    rig.reply(1);
    expect([second.failure, third.state]).toEqual(["deadline", "running"]);
    expect(rig.log).toEqual(["send a primary", "settle", "settle deadline", "send a primary"]);
  });

  test("an aborted pending call leaves the queue and is never sent", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    rig.start();
    const second = rig.start();
    const third = rig.start();
    rig.machine.aborted(second, 1);
    rig.reply(1);
    expect([second.failure, third.state]).toEqual(["aborted", "running"]);
    expect(rig.sent).toHaveLength(2);
  });

  test("calls that wait when the last endpoint goes are sent when one comes", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    const [only] = rig.policy.balancer.endpoints;
    rig.start();
    const second = rig.start();
    rig.policy.balancer.update([]);
    rig.machine.admit(1);
    rig.reply(1);
    expect(second.state).toBe("pending");
    rig.policy.balancer.update(only === undefined ? [] : [only]);
    rig.machine.admit(2);
    expect(second.state).toBe("running");
  });

  test("a call that starts after its deadline is not sent", () => {
    const rig = new CallRig();
    rig.nowMs = 50;
    expect(rig.start({ deadlineMs: 50 }).failure).toBe("deadline");
    expect(rig.log).toEqual(["settle deadline"]);
  });
});

describe("a port that answers before it returns", () => {
  const ENDS: readonly [string, (rig: CallRig, a: Attempt) => void, string][] = [
    ["replies", (rig, a) => rig.machine.replied(a, 0), "settle"],
    ["fails", (rig, a) => rig.machine.failed(a, 0, "down"), "settle all-failed"],
    ["fails for good", (rig, a) => rig.machine.fatal(a, 0, "bad"), "settle fatal"],
    ["has no place", (rig, a) => rig.machine.ignored(a, 0, "full"), "settle all-failed"],
    ["is aborted", (rig, a) => rig.machine.aborted(a.call, 0), "settle aborted"],
  ];

  test.each(ENDS)("a copy that %s inside send settles its call once", (_name, end, settle) => {
    const rig = new CallRig();
    rig.onSend = (a) => end(rig, a);
    rig.start();
    expect(rig.log.filter((line) => line.startsWith("settle"))).toEqual([settle]);
    expect(rig.log.at(-1)).toBe(settle);
    expect(rig.held()).toEqual([]);
  });

  test("an abort inside the send of a retry stops the launching", () => {
    const rig = new CallRig({ maxRetries: 8 });
    rig.onSend = (a) => {
      if (a.number === 2) rig.machine.aborted(a.call, 0);
      rig.machine.failed(a, 0, "down");
    };
    rig.start();
    expect(rig.log).toEqual(["send a primary", "send b retry", "cancel b", "settle aborted"]);
  });

  test("a winner whose body ends while its losers are being cancelled settles after the last of them", () => {
    const rig = new CallRig({ delayMs: 10, maxHedges: 2 });
    rig.start();
    rig.runTo(20);
    rig.onCancel = () => rig.reply(1);
    rig.commit(1);
    expect(rig.log.slice(3)).toEqual(["cancel c", "cancel b", "settle"]);
    expect(rig.held()).toEqual([]);
  });

  test("a winner whose body breaks while its losers are being cancelled settles after the last of them", () => {
    const rig = new CallRig({ delayMs: 10, maxHedges: 2 });
    rig.start();
    rig.runTo(20);
    rig.onCancel = () => rig.fail(1);
    rig.commit(1);
    expect(rig.log.slice(3)).toEqual(["cancel c", "cancel b", "settle body"]);
  });

  test("copies that report from inside cancel are not heard", () => {
    const rig = new CallRig({ delayMs: 10, maxHedges: 2 });
    const c = rig.start();
    rig.runTo(20);
    rig.onCancel = (a) => {
      rig.machine.replied(a, 20);
      rig.machine.replied(rig.copy(2), 20);
      rig.machine.failed(a, 20, "late");
    };
    rig.reply(1);
    expect(rig.log.slice(3)).toEqual(["cancel c", "cancel b", "settle"]);
    expect(c.winner).toBe(rig.copy(1));
  });

  test("the answer of another copy, heard while one that timed out is cancelled, wins", () => {
    const rig = new CallRig({ delayMs: 10, attemptTimeoutMs: 20 });
    rig.start();
    rig.onCancel = (a) => {
      if (a.number === 1) rig.reply(2);
    };
    rig.runTo(20);
    expect(rig.log).toEqual(["send a primary", "send b hedge", "cancel a", "settle"]);
    expect(rig.held()).toEqual([]);
  });

  test("calls started inside send, cancel and settle run beside the first", () => {
    const rig = new CallRig({ endpoints: "abc", perEndpoint: 1, delayMs: 10 });
    const started: string[] = [];
    const startOne = (where: string) => () => {
      if (started.includes(where)) return;
      started.push(where);
      rig.start({ idempotent: false });
    };
    rig.onSend = startOne("send");
    rig.onCancel = startOne("cancel");
    rig.onSettle = startOne("settle");
    rig.start();
    rig.runTo(10);
    rig.reply(1);
    for (const a of rig.sent) rig.machine.replied(a, 11);
    expect(started).toEqual(["send", "cancel", "settle"]);
    expect(rig.machine.stats).toMatchObject({ calls: 4, succeeded: 4, running: 0, pending: 0 });
    expect(rig.held()).toEqual([]);
  });
});

describe("what is counted", () => {
  test("outstanding, work and waiting are counted from before the send until the end", () => {
    const rig = new CallRig({ endpoints: "a" });
    const seen: number[][] = [];
    const note = () => {
      const e = rig.endpoint(0);
      seen.push([e.outstanding, e.work, e.waiting, e.waitingSinceSumMs]);
    };
    rig.nowMs = 5;
    rig.onSend = note;
    rig.start({ cost: 3 });
    rig.commit(1);
    note();
    rig.onSettle = note;
    rig.reply(1);
    expect(seen).toEqual([
      [1, 3, 1, 5],
      [1, 3, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test("every attempt teaches the balancer once, and a broken body once more, as a failure", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(12);
    rig.commit(2);
    rig.runTo(20);
    rig.fail(2);
    expect(rig.policy.balancer.observed).toEqual([
      { endpoint: rig.endpoint(1), latencyMs: 2, outcome: "win" },
      { endpoint: rig.endpoint(0), latencyMs: 12, outcome: "superseded" },
      { endpoint: rig.endpoint(1), latencyMs: 2, outcome: "failed" },
    ]);
  });

  test("only a call that succeeded to its last byte earns a share of another copy", () => {
    const rig = new CallRig();
    rig.start();
    rig.commit(1);
    expect(rig.policy.budget.deposits).toBe(0);
    rig.fail(1);
    rig.start();
    rig.commit(2);
    rig.reply(2);
    expect(rig.policy.budget.deposits).toBe(1);
  });

  test("a primary that was beaten is a lower bound for the hedge delay, a fast failure is nothing", () => {
    const beaten = new CallRig({ delayMs: 10 });
    beaten.start();
    beaten.runTo(15);
    beaten.reply(2);
    expect(beaten.policy.hedger.recorded).toEqual([{ latencyMs: 15, censored: true }]);

    const failed = new CallRig();
    failed.start();
    failed.fail(1);
    failed.reply(2);
    expect(failed.policy.hedger.recorded).toEqual([]);
  });

  test("a call started twice is a mistake of the driver's, and is told so", () => {
    const rig = new CallRig();
    const c = rig.start();
    expect(() => rig.machine.start(c, 1)).toThrow("a call starts once");
  });
});
