import { Attempt, Call, Endpoint, type LatencyClass, type Timers } from "bobtail/engine";
import { expect, test } from "vitest";
import type { LegEvents } from "./engine.ts";
import { UndiciLeg } from "./undici-leg.ts";
import type { UndiciOutbound } from "./undici-outbound.ts";

const CLASS: LatencyClass = { key: "k", delayMs: 0, medianMs: 0 };

/** A leg whose undici is this test: it says what undici would, and notes what it is told. */
function leg() {
  const said: string[] = [];
  const call = new Call(CLASS, undefined);
  const attempt = new Attempt(call, new Endpoint({ name: "http://a" }), "primary", 0);
  const timers: Timers = {
    wakeAt: (_sleeper, atMs) => {
      said.push(atMs === Number.POSITIVE_INFINITY ? "no timer" : `timer ${atMs}`);
    },
  };
  const outbound = { legs: 0, setup: { maxLegs: 9, clock: { nowMs: () => 1000 }, timers } };
  const events: LegEvents = {
    requestOf: () => ({ method: "GET", path: "/", headers: [], body: null, upgrade: null }),
    legInformed: () => said.push("informed"),
    legHead: () => said.push("head") > 0,
    legData: () => said.push("data") > 0,
    legEnd: () => said.push("end"),
    legFailed: (_leg, failure) => said.push(failure.kind),
    legUpgraded: () => said.push("upgraded"),
  };
  const it = new UndiciLeg(attempt, events, outbound as unknown as UndiciOutbound);
  const abort = () => {
    said.push("abort");
    it.onError(new Error("aborted"));
  };
  const answer = (...headers: string[]) =>
    it.onHeaders(
      200,
      headers.map((text) => Buffer.from(text)),
      () => said.push("resume"),
      "OK",
    );
  return { it, said, abort, answer, outbound };
}

test("a copy that is dropped before its connection is open is given up there, before a byte is sent", () => {
  const { it, said, abort, outbound } = leg();
  it.drop();
  expect(said).toEqual([]);
  it.onConnect(abort);
  expect(said).toEqual(["abort", "no timer"]);
  expect(outbound.legs).toBe(0);
});

test("a copy that is dropped before its answer is aborted at once, and says nothing any more", () => {
  const { it, said, abort, outbound } = leg();
  it.onConnect(abort);
  it.drop();
  it.drop();
  expect(said).toEqual(["abort", "no timer"]);
  expect(outbound.legs).toBe(0);
});

test("a copy that is dropped after its answer is read to the end, for at most 50 ms and 16 KiB", () => {
  const short = leg();
  short.it.onConnect(short.abort);
  short.answer("content-length", "100");
  short.it.drop();
  expect(short.said).toEqual(["head", "timer 1050", "resume"]);
  short.it.onData(Buffer.alloc(100));
  short.it.onComplete([]);
  expect(short.said.slice(3)).toEqual(["no timer"]);

  const endless = leg();
  endless.it.onConnect(endless.abort);
  endless.answer();
  endless.it.drop();
  endless.it.onData(Buffer.alloc(16_384));
  expect(endless.said).not.toContain("abort");
  endless.it.onData(Buffer.alloc(1));
  expect(endless.said).toContain("abort");

  const slow = leg();
  slow.it.onConnect(slow.abort);
  slow.answer();
  slow.it.drop();
  slow.it.fire();
  expect(slow.said).toContain("abort");
});

test("a copy with a long answer still to come is aborted at once", () => {
  const { it, said, abort, answer } = leg();
  it.onConnect(abort);
  answer("Content-Length", "20000");
  it.drop();
  expect(said).toEqual(["head", "abort", "no timer"]);
});

test("a failure before the connection is open is told from one after it", () => {
  const early = leg();
  early.it.onError(new Error("refused"));
  expect(early.said).toEqual(["no timer", "connect"]);
  const late = leg();
  late.it.onConnect(late.abort);
  late.it.onError(new Error("broken"));
  late.it.onError(new Error("again"));
  expect(late.said).toEqual(["no timer", "reset"]);
});
