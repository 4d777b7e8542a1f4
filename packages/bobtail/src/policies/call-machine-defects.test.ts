import { describe, expect, test } from "vitest";
import { CallRig } from "./call-rig.testbed.ts";

/** Defects of other libraries and proxies, recreated: each title names the project and its issue. */
describe("defects of client libraries", () => {
  test("B2 (go-resty#1197): no copy is launched after the caller gave up", () => {
    const rig = new CallRig({ delayMs: 10, maxHedges: 2 });
    const c = rig.start();
    rig.runTo(10);
    rig.machine.aborted(c, 10);
    rig.runTo(999);
    expect(rig.log).toEqual([
      "send a primary",
      "send b hedge",
      "cancel b",
      "cancel a",
      "settle aborted",
    ]);
  });

  test("B4 (failsafe-go#141): a budget that is empty when the hedge is due neither fails the call nor ends what runs", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 1, maxHedges: 2 });
    rig.start();
    rig.runTo(20);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
    rig.reply(1);
    expect(rig.log.slice(2)).toEqual(["cancel b", "settle"]);
  });

  test("B10 (grpc-java#10145): a failure that may be cured does not wait for the hedge delay", () => {
    const rig = new CallRig({ delayMs: 500 });
    rig.start();
    rig.runTo(1);
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "send b retry"]);
  });

  test("B11 (grpc-java#9185, #10007): the primary may answer while its hedge is being sent", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.onSend = () => rig.reply(1);
    rig.runTo(10);
    expect(rig.log).toEqual(["send a primary", "send b hedge", "cancel b", "settle"]);
    expect(rig.held()).toEqual([]);
  });

  test("B12 (grpc-java#10314): two copies that each abort the call when cancelled end it once", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(10);
    rig.onCancel = (a) => rig.machine.aborted(a.call, 10);
    rig.machine.aborted(rig.copy(1).call, 10);
    expect(rig.log.slice(2)).toEqual(["cancel b", "cancel a", "settle aborted"]);
    expect(rig.held()).toEqual([]);
  });

  test("B14 (gocql#1530): a hedge never goes to the host of its primary", () => {
    const rig = new CallRig({ endpoints: "ab", delayMs: 10, maxHedges: 4 });
    // The other one is much busier, and still the only right answer.
    rig.endpoint(1).outstanding = 50;
    rig.start();
    rig.runTo(999);
    expect(rig.log).toEqual(["send a primary", "send b hedge"]);
  });

  test("B15 (gocql#1224, #1226): whatever way a call ends, nothing of it is left", () => {
    const ends: ((rig: CallRig) => void)[] = [
      (rig) => rig.reply(1),
      (rig) => rig.reply(2),
      (rig) => rig.fail(1),
      (rig) => rig.machine.fatal(rig.copy(2), rig.nowMs, "bad"),
      (rig) => rig.machine.ignored(rig.copy(2), rig.nowMs, "full"),
      (rig) => rig.machine.aborted(rig.copy(1).call, rig.nowMs),
      () => {},
    ];
    for (const end of ends) {
      const rig = new CallRig({ delayMs: 10 });
      rig.start({ deadlineMs: 40 });
      rig.runTo(10);
      end(rig);
      rig.runTo(40);
      expect(rig.held()).toEqual([]);
      expect(rig.log.filter((line) => line.startsWith("settle"))).toHaveLength(1);
    }
  });

  test("B17 (resilience4j#1775): a hedge never queues behind its slow primary", () => {
    const rig = new CallRig({ endpoints: "A", perEndpoint: 1, delayMs: 10 });
    rig.start();
    rig.runTo(500);
    expect(rig.log).toEqual(["send A primary"]);
    expect([rig.machine.stats.pending, rig.policy.budget.granted]).toEqual([0, 0]);
  });

  test("B31 (cockatiel#112): aborted calls do not keep others from a free place", () => {
    const rig = new CallRig({ endpoints: "a", perEndpoint: 1 });
    rig.start();
    const gone = [rig.start(), rig.start()];
    const third = rig.start();
    for (const c of gone) rig.machine.aborted(c, 1);
    rig.reply(1);
    expect(third.state).toBe("running");
  });

  test("B20 (Polly#1340): the timeout of one attempt does not end the hedging of its call", () => {
    const rig = new CallRig({ endpoints: "abcd", delayMs: 15, attemptTimeoutMs: 20, maxHedges: 2 });
    rig.start();
    rig.runTo(20);
    expect(rig.log.slice(1)).toEqual(["send b hedge", "cancel a", "send c retry"]);
    rig.runTo(34);
    rig.reply(2);
    expect(rig.log.at(-1)).toBe("settle");
  });

  test("B33 (aws-sdk-js-v3#4754): successes refill an empty budget", () => {
    const rig = new CallRig({ burstCount: 1, depositHundredths: 50 });
    for (let n = 1; n <= 5; n++) rig.start();
    rig.fail(1);
    rig.fail(2);
    expect(rig.machine.stats.retries).toBe(1);
    rig.reply(3);
    rig.reply(4);
    rig.fail(5);
    expect(rig.machine.stats.retries).toBe(2);
  });

  test("B34 (hedgedhttp#18): when every call is slow at once, the extra load stays within the budget", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 10, depositHundredths: 5 });
    for (let i = 0; i < 400; i++) {
      const c = rig.start({ deadlineMs: rig.nowMs + 1000 });
      rig.runTo(rig.nowMs + 200);
      for (const a of rig.sent) if (a.call === c) rig.machine.replied(a, rig.nowMs);
    }
    expect(rig.machine.stats.hedges).toBe(10 + 400 * 0.05 - 1);
    expect(rig.machine.stats.succeeded).toBe(400);
  });

  test("B44 (grpc-js): cancelled losers do not count against a slow, healthy endpoint", () => {
    const rig = new CallRig({ endpoints: "ab", delayMs: 10, burstCount: 20 });
    for (let n = 0; n < 10; n++) {
      rig.start();
      rig.runTo(rig.nowMs + 10);
      rig.reply(2 * n + 2);
    }
    expect([rig.endpoint(0).failures, rig.endpoint(0).superseded]).toEqual([0, 10]);
    expect(rig.policy.budget.failures).toBe(0);
  });
});

describe("defects of proxies", () => {
  test("B18, proxies 27 (envoy#7192, #7530): late news of a finished loser is ignored", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start();
    rig.runTo(10);
    rig.reply(2);
    const log = [...rig.log];
    rig.commit(1);
    rig.reply(1);
    rig.fail(1);
    rig.machine.fatal(rig.copy(1), 11, "late");
    rig.machine.ignored(rig.copy(1), 11, "late");
    rig.reply(2);
    expect(rig.log).toEqual(log);
    expect([rig.held(), rig.policy.budget.failures]).toEqual([[], 0]);
  });

  test("proxies 27 (envoy#7154): the deadline after the headers ends the winner, and the losers ended before", () => {
    const rig = new CallRig({ delayMs: 10 });
    rig.start({ deadlineMs: 50 });
    rig.runTo(10);
    rig.commit(1);
    rig.runTo(50);
    expect(rig.log.slice(2)).toEqual(["cancel b", "cancel a", "settle deadline"]);
  });

  test("proxies 30 (pingora#979): a POST that was sent is not sent again after a broken reply", () => {
    const rig = new CallRig({ delayMs: 10, maxRetries: 3 });
    rig.start({ idempotent: false });
    rig.fail(1, { cause: "invalid reply" });
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
  });

  test("proxies 35 (gateway#5689): on a single host a retry goes to the same host, and a hedge is left out", () => {
    const rig = new CallRig({ endpoints: "a", delayMs: 10 });
    rig.start();
    rig.runTo(10);
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "send a retry"]);
  });

  test("proxies 36 (envoy#30205): when 1000 calls fail at once, exactly what was saved up is retried", () => {
    const rig = new CallRig({ maxOutstanding: 5000, perEndpoint: 5000, burstCount: 100 });
    for (let n = 1; n <= 1000; n++) rig.start();
    for (let n = 1; n <= 1000; n++) rig.fail(n, { pushbackMs: 5 });
    rig.runTo(5);
    expect(rig.machine.stats.retries).toBe(100);
    expect(rig.machine.stats.skipped.budget).toBe(900);
    for (const a of rig.sent) rig.machine.replied(a, 6);
    expect(rig.machine.stats).toMatchObject({ succeeded: 100, failed: 900, running: 0 });
  });

  test("B5, proxies 38 (failsafe-go#139): hedges and retries are both refused when the budget is empty", () => {
    const rig = new CallRig({ delayMs: 10, burstCount: 0 });
    rig.start();
    rig.runTo(10);
    rig.fail(1);
    expect(rig.log).toEqual(["send a primary", "settle all-failed"]);
    expect(rig.machine.stats.skipped.budget).toBe(2);
  });

  test("proxies 40 (envoy#22390, #11504): what is in flight is exact after any mixture of ends", () => {
    const rig = new CallRig({ delayMs: 10, maxRetries: 2 });
    for (let n = 0; n < 12; n++) rig.start({ cost: 0.1, deadlineMs: 60 });
    rig.runTo(10);
    const ends = ["replied", "committed", "failed", "fatal", "ignored", "none"] as const;
    for (const [i, a] of [...rig.sent].entries()) {
      const end = ends[i % ends.length];
      if (end === "replied" || end === "committed") rig.machine[end](a, 10);
      else if (end !== "none" && end !== undefined) rig.machine[end](a, 10, end);
    }
    rig.runTo(60);
    expect(rig.held()).toEqual([]);
  });

  test("proxies 20 (envoy#25487): what our own limits refuse is charged to no endpoint", () => {
    const rig = new CallRig({ endpoints: "a", maxOutstanding: 1, maxPending: 0 });
    rig.start();
    for (let i = 0; i < 20; i++) rig.start();
    expect(rig.log.filter((line) => line === "settle shed")).toHaveLength(20);
    expect(rig.endpoint(0).failures).toBe(0);
    expect(rig.endpoint(0).picks).toBe(1);
    expect(rig.machine.policy.budget.balanceAt(0)).toBe(rig.machine.policy.budget.capacityCount);
  });
});
