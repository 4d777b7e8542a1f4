import { expect, test } from "vitest";
import { type BobtailError, isBobtailError } from "../../core/errors.ts";
import { scriptedFunction } from "../testing/scripted-function.ts";
import { bed, names, reasonOf } from "./client.testbed.ts";
import { createClient } from "./client.ts";

const idempotent = { idempotent: true };

test("a call resolves with what the function returns, sync or async, and hands it the user's own target", async () => {
  const { client } = bed(1);
  expect(await client.call((replica) => replica)).toBe("target e0");
  expect(await client.call(async (replica) => replica)).toBe("target e0");
  expect(await client.call(() => undefined)).toBeUndefined();
  expect(client.stats()).toMatchObject({ calls: 3, succeeded: 3, running: 0, attempts: 3 });
});

test("where endpoints are URLs the function gets an origin to fetch from", async () => {
  const client = createClient({
    endpoints: ["http://10.0.0.1:8080/", { url: "https://b", name: "b" }],
  });
  expect(client.endpoints).toEqual([
    { name: "http://10.0.0.1:8080", url: "http://10.0.0.1:8080" },
    { name: "b", url: "https://b" },
  ]);
  const url: string = await client.call((origin) => origin.url);
  expect(client.endpoints.map((e) => e.url)).toContain(url);
  await client.close();
});

test("a slow primary is overtaken by a hedge elsewhere, and learns that it is superseded", async () => {
  const { time, client } = bed();
  const { fn, copies } = scriptedFunction<string, string>(time, ({ kind }) =>
    kind === "primary" ? { afterMs: 500, answer: "slow" } : { afterMs: 5, answer: "quick" },
  );
  expect(await time.run(client.call(fn, idempotent))).toBe("quick");
  expect(time.nowMs()).toBe(1025);
  expect(copies.map((c) => [c.kind, c.sentAtMs, c.cancelledAtMs])).toEqual([
    ["primary", 1000, 1025],
    ["hedge", 1020, undefined],
  ]);
  expect(copies[0]?.endpoint).not.toBe(copies[1]?.endpoint);
  expect(isBobtailError(copies[0]?.cancelReason, "ERR_BOBTAIL_SUPERSEDED")).toBe(true);
  expect(client.stats()).toMatchObject({ hedges: 1, hedgesWon: 1, failed: 0 });
  expect(client.stats().endpoints.map((e) => e.outstanding)).toEqual([0, 0, 0]);
  expect(time.pendingCount).toBe(0);
});

test("a call that is not said to be idempotent is neither hedged nor repeated", async () => {
  const { time, client } = bed();
  const { fn, copies } = scriptedFunction<string, string>(time, () => ({
    afterMs: 500,
    error: new Error("no"),
  }));
  await reasonOf(time.run(client.call(fn)));
  expect(copies.length).toBe(1);
});

test("when every copy failed the error names each one, and its cause is the primary's", async () => {
  const { time, client } = bed(3, { hedge: undefined });
  const errors = [new Error("first"), new Error("second")];
  let sent = 0;
  const error = (await reasonOf(
    time.run(client.call(() => Promise.reject(errors[sent++]), idempotent)),
  )) as BobtailError<"ERR_BOBTAIL_ALL_FAILED">;
  expect(error.code).toBe("ERR_BOBTAIL_ALL_FAILED");
  expect(error.details.causes).toEqual(errors);
  expect(error.cause).toBe(errors[0]);
  expect(error.message).toMatch(
    /client: all 2 attempts failed \(primary to e\d: first; retry to e\d: second\)/,
  );
});

test("an error that the classifier calls fatal ends the call at once, as it is", async () => {
  const wrong = new TypeError("bad request");
  const { time, client } = bed(3, {
    classify: (e) => (e instanceof TypeError ? "fatal" : "failed"),
  });
  let sent = 0;
  const reason = await reasonOf(
    time.run(
      client.call(() => {
        sent++;
        throw wrong;
      }, idempotent),
    ),
  );
  expect([reason, sent]).toEqual([wrong, 1]);
});

test("a copy that could not be placed is tried elsewhere and blames no endpoint", async () => {
  const { time, client } = bed(2, { classify: () => "ignore" });
  let sent = 0;
  const answer = time.run(
    client.call(() => {
      if (++sent === 1) throw new Error("pool is full");
      return "placed";
    }),
  );
  expect(await answer).toBe("placed");
  expect(client.stats().endpoints.map((e) => e.failures)).toEqual([0, 0]);
});

test("a classifier that throws ends the call with its own mistake", async () => {
  const mistake = new Error("classifier");
  const { client } = bed(2, {
    classify: () => {
      throw mistake;
    },
  });
  expect(await reasonOf(client.call(() => Promise.reject(new Error("x")), idempotent))).toBe(
    mistake,
  );
});

test("the deadline ends a call with what was sent where, and the copies learn it", async () => {
  const { time, client } = bed(3, { name: "search", deadlineMs: 100, hedge: undefined });
  const { fn, copies } = scriptedFunction<string, string>(time, () => ({
    afterMs: Number.POSITIVE_INFINITY,
    answer: "",
  }));
  const error = (await reasonOf(time.run(client.call(fn)))) as BobtailError<"ERR_BOBTAIL_DEADLINE">;
  expect(error.code).toBe("ERR_BOBTAIL_DEADLINE");
  expect(error.details).toEqual({ elapsedMs: 100, attempts: 1 });
  expect(error.message).toMatch(
    /^search: no answer within 100 ms \(sent primary to e\d\)\. .*deadlineMs/,
  );
  expect(copies[0]?.cancelReason).toBe(error);
});

test("a call's own deadline shortens the service's and never lengthens it", async () => {
  const { time, client } = bed(1, { deadlineMs: 100 });
  const never = () => new Promise<never>(() => {});
  for (const [deadlineMs, elapsedMs] of [
    [40, 40],
    [4000, 100],
  ] as const) {
    const error = await reasonOf(time.run(client.call(never, { deadlineMs })));
    expect((error as BobtailError).details).toMatchObject({ elapsedMs });
  }
});

test("attempts know their number, their kind and what is left of the deadline", async () => {
  const { time, client } = bed();
  const seen: unknown[] = [];
  await time.run(
    client.call(async (_, attempt) => {
      seen.push([attempt.number, attempt.kind, attempt.remainingMs]);
      await time.sleep(attempt.number === 1 ? 100 : 1);
    }, idempotent),
  );
  expect(seen).toEqual([
    [1, "primary", 1000],
    [2, "hedge", 980],
  ]);
});

test("an attempt that times out hears why, and another takes its place", async () => {
  const { time, client } = bed(2, { hedge: undefined, timeout: { attemptMs: 30 } });
  const { fn, copies } = scriptedFunction<string, string>(time, ({ kind }) =>
    kind === "primary" ? { afterMs: 500, answer: "slow" } : { afterMs: 5, answer: "quick" },
  );
  expect(await time.run(client.call(fn, idempotent))).toBe("quick");
  expect(isBobtailError(copies[0]?.cancelReason, "ERR_BOBTAIL_ATTEMPT_TIMEOUT")).toBe(true);
});

test("without endpoints a call says so, and finds those that are set later", async () => {
  const { client } = bed(0);
  const error = await reasonOf(client.call((r) => r));
  expect(isBobtailError(error, "ERR_BOBTAIL_NO_ENDPOINT")).toBe(true);
  client.setEndpoints([{ name: "late", target: "target late" }]);
  expect(await client.call((r) => r)).toBe("target late");
});

test("calls beyond the limits wait, those beyond the queue are refused, and all that were let in are served", async () => {
  const { time, client } = bed(1, { limit: { outstanding: 2, pending: 3 } });
  const calls = Array.from({ length: 6 }, () => client.call(() => time.sleep(10).then(() => "ok")));
  const ends = Promise.all(calls.map((c) => c.catch((e: BobtailError) => [e.code, e.details])));
  expect(await time.run(ends)).toEqual([
    "ok",
    "ok",
    "ok",
    "ok",
    "ok",
    ["ERR_BOBTAIL_SHED", { limit: "pending", max: 3 }],
  ]);
});

test("a waiting call is sent to an endpoint that arrives, with that endpoint's target", async () => {
  const { time, client } = bed(1, { limit: { perEndpoint: 1 } });
  const first = client.call(() => time.sleep(100));
  const second = client.call((replica) => replica);
  client.setEndpoints([...names(1), "new"].map((name) => ({ name, target: `target ${name}` })));
  expect(await second).toBe("target new");
  await time.run(first);
});

test("an endpoint that stays keeps its counts; one that leaves ends its calls in peace", async () => {
  const { time, client } = bed(2);
  const calls = Array.from({ length: 4 }, () => client.call(() => time.sleep(10).then(() => "ok")));
  client.setEndpoints([{ name: "e1", target: "moved" }]);
  expect(await time.run(Promise.all(calls))).toEqual(["ok", "ok", "ok", "ok"]);
  expect(client.endpoints).toEqual(["moved"]);
  const [kept] = client.stats().endpoints;
  expect(kept?.outstanding).toBe(0);
  expect(kept?.attempts).toBeGreaterThan(0);
});

test("close waits for running calls, then refuses; it may be asked twice", async () => {
  const { time, client } = bed(1);
  const call = client.call(() => time.sleep(50).then(() => "done"));
  let closed = false;
  const close = client.close().then(() => {
    closed = true;
  });
  expect(isBobtailError(await reasonOf(client.call((r) => r)), "ERR_BOBTAIL_CLOSED")).toBe(true);
  await time.advance(49);
  expect(closed).toBe(false);
  expect(await time.run(call)).toBe("done");
  await close;
  await client[Symbol.asyncDispose]();
  expect(() => client.setEndpoints([])).toThrow(/closed/);
});

test("a mistake in a call's own options is refused before anything is sent", async () => {
  const { client } = bed();
  const bad = [
    { deadlineMs: 0 },
    { deadlineMs: Number.NaN },
    { cost: -1 },
    { cost: Number.POSITIVE_INFINITY },
  ];
  for (const options of bad)
    expect(
      isBobtailError(await reasonOf(client.call((r) => r, options)), "ERR_BOBTAIL_OPTION"),
    ).toBe(true);
  expect(isBobtailError(await reasonOf(client.call("no" as never)), "ERR_BOBTAIL_OPTION")).toBe(
    true,
  );
  expect(client.stats().attempts).toBe(0);
});

test("stats are a plain snapshot that later calls do not change", async () => {
  const { client } = bed(1, { name: "search" });
  await client.call((r) => r);
  const before = client.stats();
  await client.call((r) => r);
  expect(before).toMatchObject({
    name: "search",
    calls: 1,
    extraRatio: 0,
    budget: { capacityCount: 10 },
  });
  expect(JSON.parse(JSON.stringify(before))).toMatchObject({ calls: 1, skipped: { budget: 0 } });
});
