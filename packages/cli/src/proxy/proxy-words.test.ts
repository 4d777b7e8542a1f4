import { Histogram } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  parseGrpcPushback,
  parseGrpcTimeout,
  parseMilliseconds,
  parseRetryAfter,
  remainingHeader,
} from "./deadline-header.ts";
import { failureReply } from "./failure-reply.ts";
import { createTrustRule, plainAddress } from "./peer.ts";
import { PrometheusText } from "./prometheus-text.ts";
import { pushbackOf, readReplyHead, tellsEventStream } from "./reply-head.ts";
import { parseTarget, withoutQuery } from "./request-target.ts";
import { compileRoutes, findRoute } from "./routes.ts";

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text, "latin1"));

test("a gRPC timeout is at most eight digits and one of six units", () => {
  expect(["1H", "2M", "3S", "4m", "5u", "0n"].map(parseGrpcTimeout)).toEqual([
    3_600_000, 120_000, 3_000, 4, 0.005, 0,
  ]);
  for (const bad of ["", "1", "m", "1 m", "123456789m", "-1m", "1.5S", "1s"])
    expect(parseGrpcTimeout(bad)).toBeUndefined();
});

test("the time sent on is whole, never negative, and always less than what is left", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 1e9, noNaN: true }), (leftMs) => {
      const told = parseMilliseconds(remainingHeader(leftMs));
      expect(told).toBeLessThan(leftMs);
      expect(told).toBeGreaterThanOrEqual(leftMs - 2);
    }),
  );
  expect([remainingHeader(100), remainingHeader(0), remainingHeader(-5)]).toEqual(["99", "0", "0"]);
});

test("Retry-After is seconds or a date; a pushback that is no count means no copy at all", () => {
  const now = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT");
  expect(parseRetryAfter("120", now)).toBe(120_000);
  expect(parseRetryAfter("Wed, 21 Oct 2015 07:28:10 GMT", now)).toBe(10_000);
  expect(parseRetryAfter("Wed, 21 Oct 2015 07:27:00 GMT", now)).toBe(0);
  expect(parseRetryAfter("soon", now)).toBeUndefined();
  expect([parseGrpcPushback("50"), parseGrpcPushback("-1"), parseGrpcPushback("x")]).toEqual([
    50, -1, -1,
  ]);
  const of = (...headers: string[]) => pushbackOf(bytes(...headers), () => now);
  expect(of("retry-after", "1", "grpc-retry-pushback-ms", "7")).toBe(7);
  expect([of("Retry-After", "2"), of("retry-after", "soon"), of("x", "1")]).toEqual([2000, 0, 0]);
});

test("a target is a path, or an absolute form whose authority is only a name", () => {
  expect(parseTarget("/a?b")).toEqual({ path: "/a?b", authority: undefined });
  expect(parseTarget("HTTP://h:1/a?b")).toEqual({ path: "/a?b", authority: "h:1" });
  expect(parseTarget("https://h")).toEqual({ path: "/", authority: "h" });
  expect(parseTarget("http://h?q")).toEqual({ path: "/?q", authority: "h" });
  for (const bad of ["", "*", "h:1", "http://", "http://u@h/", "file:///x", "a/b", "http://h/#c"])
    expect(parseTarget(bad)).toBeUndefined();
  expect(withoutQuery("/a?b=/c?d")).toBe("/a");
});

test("loopback is trusted unless told otherwise; ranges of both families hold", () => {
  const loopback = createTrustRule();
  expect(["127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "unknown"].map(loopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  const own = createTrustRule(["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"]);
  expect(["10.1.2.3", "2001:db8::5", "192.0.2.7", "192.0.2.8", "127.0.0.1"].map(own)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(createTrustRule([])("127.0.0.1")).toBe(false);
  for (const bad of ["", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "loopback", "1.2.3.4/x"])
    expect(() => createTrustRule([bad])).toThrow(/trust/);
  expect(plainAddress("::ffff:10.0.0.1")).toBe("10.0.0.1");
});

test("routes are tried in their order", () => {
  const routes = compileRoutes(
    {
      service: [
        { name: "v6", host: "[::1]", service: "a" },
        { path: "/x/", service: "b" },
        { service: "c" },
      ],
    },
    (service) => service,
  );
  const find = (host: string, path: string) => findRoute(routes, host, path)?.target;
  expect([find("[::1]:80", "/x"), find("h", "/x/y"), find("h", "/xy"), find("h", "/x?q")]).toEqual([
    "a",
    "b",
    "c",
    "b",
  ]);
});

test("a reply's own hop-by-hop headers and those its Connection names do not pass", () => {
  const head = readReplyHead(
    bytes(
      ...["Connection", "x-a, set-cookie", "X-A", "1", "Keep-Alive", "x", "Transfer-Encoding"],
      ...["chunked", "Set-Cookie", "c", "Via", "1.0 cdn", "Content-Length", "12"],
    ),
  );
  expect(head.headers).toEqual([
    "Set-Cookie",
    "c",
    "Content-Length",
    "12",
    "via",
    "1.0 cdn, 1.1 bobtail",
  ]);
  expect([head.bodyLength, head.isEventStream]).toEqual([12, false]);
  expect(tellsEventStream(bytes("Content-Type", "text/event-stream;charset=utf-8"))).toBe(true);
  expect(tellsEventStream(bytes("content-type", "text/events", "x", "text/event-stream"))).toBe(
    false,
  );
});

test("a failure's answer is a status, a word and the service's name", () => {
  const { status, headers, body } = failureReply("busy", { service: 'a"b', attempts: 2 });
  expect(JSON.parse(body.toString())).toEqual({
    error: "service_unavailable",
    reason: "busy",
    service: 'a"b',
    attempts: 2,
  });
  expect([status, headers[3]]).toEqual([503, String(body.length)]);
  expect(headers).toContain("retry-after");
});

test("label values are escaped, and buckets never decrease", () => {
  const text = new PrometheusText();
  text.family("m", "gauge", "One\nline \\ only.");
  text.sample({ backend: 'a"b\\c\nd' }, Number.POSITIVE_INFINITY);
  const values = new Histogram({ subBucketsPerOctave: 32 });
  for (const micros of [400, 3_000, 70_000, 40_000_000]) values.record(micros);
  text.family("h", "histogram", "Durations.");
  text.histogram({ route: "r" }, values);
  text.histogram({ route: "empty" }, new Histogram());
  const lines = text.toString().split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "# HELP m One\\nline \\\\ only.",
    "# TYPE m gauge",
    'm{backend="a\\"b\\\\c\\nd"} +Inf',
  ]);
  const buckets = lines
    .filter((line) => line.startsWith("h_bucket"))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
  expect([buckets[0], buckets.at(-2), buckets.at(-1)]).toEqual([1, 3, 4]);
  expect(text.toString()).toContain('h_count{route="r"} 4\n');
  expect(text.toString()).not.toContain("empty");
});
