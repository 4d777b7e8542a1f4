import fc from "fast-check";
import { expect, test } from "vitest";
import { Peer } from "./peer.ts";
import { RequestHead } from "./request-head.ts";

const TRUSTED = new Peer("127.0.0.1", true);
const STRANGER = new Peer("203.0.113.9", false);

function read(raw: readonly string[], peer: Peer = TRUSTED, authority?: string): RequestHead {
  const head = new RequestHead();
  head.read(raw, peer, authority, false);
  return head;
}

function passed(head: RequestHead, name: string): string | undefined {
  const at = head.headers.findIndex((h, i) => i % 2 === 0 && h?.toLowerCase() === name);
  return at < 0 ? undefined : head.headers[at + 1];
}

test("ordinary headers pass in their order and spelling", () => {
  const head = read(["Host", "a", "X-One", "1", "accept", "*/*", "X-One", "2"]);
  expect(head.headers.slice(0, 6)).toEqual(["X-One", "1", "accept", "*/*", "X-One", "2"]);
  expect(passed(head, "host")).toBe("a");
});

test("no hop-by-hop header and no bobtail header of a stranger ever passes, whatever its case", () => {
  const names = fc.constantFrom(
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "transfer-encoding",
    "proxy-authorization",
    "proxy-connection",
    "http2-settings",
    "expect",
    "bobtail-no-hedge",
    "bobtail-attempt",
    "bobtail-deadline-ms",
    "bobtail-new-thing",
    "grpc-timeout",
    "x-envoy-expected-rq-timeout-ms",
  );
  const cased = fc
    .tuple(names, fc.array(fc.boolean(), { minLength: 32, maxLength: 32 }))
    .map(([name, upper]) => [...name].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join(""));
  fc.assert(
    fc.property(fc.array(fc.tuple(cased, fc.constantFrom("1", "chunked", "x"))), (pairs) => {
      const head = read(["host", "a", ...pairs.flat()], STRANGER);
      const sent = head.headers.filter((_, i) => i % 2 === 0).map((n) => n?.toLowerCase());
      expect(sent).toEqual([
        "host",
        "via",
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-forwarded-host",
      ]);
      expect([head.isNoHedge, head.deadlineMs]).toEqual([false, Number.POSITIVE_INFINITY]);
    }),
  );
});

test("a length told twice, or beside chunked, or not in digits, is a fault", () => {
  const of = (...raw: string[]) => read(["host", "a", ...raw]).fault;
  expect(of("content-length", "5")).toBeUndefined();
  expect(of("content-length", "5", "Content-Length", "5")).toBe("ambiguous_length");
  expect(of("content-length", "5", "transfer-encoding", "chunked")).toBe("ambiguous_length");
  expect(of("content-length", "0x5")).toBe("ambiguous_length");
  expect(of("content-length", "-5")).toBe("ambiguous_length");
  expect(of("transfer-encoding", "gzip")).toBe("unsupported_transfer_encoding");
  expect(of("transfer-encoding", "chunked", "transfer-encoding", "chunked")).toBe(
    "unsupported_transfer_encoding",
  );
  expect(read(["host", "a", "transfer-encoding", "Chunked"]).bodyLength).toBe(-1);
});

test("an absolute target's authority stands in for the Host header", () => {
  expect(read(["host", "claimed"], TRUSTED, "real").host).toBe("real");
  expect(read([], TRUSTED, "real").fault).toBeUndefined();
  expect(read([]).fault).toBe("host");
});

test("of several deadlines the first dialect counts: grpc-timeout, ours, Envoy's", () => {
  const all = ["bobtail-deadline-ms", "20", "x-envoy-expected-rq-timeout-ms", "30"];
  const ours = read(["host", "a", ...all]);
  expect([ours.deadlineMs, ours.deadlineDialect]).toEqual([20, undefined]);
  const grpc = read(["host", "a", ...all, "grpc-timeout", "40m"]);
  expect([grpc.deadlineMs, grpc.deadlineDialect]).toEqual([40, "grpc-timeout"]);
  const envoy = read(["host", "a", ...all.slice(2)]);
  expect([envoy.deadlineMs, envoy.deadlineDialect]).toEqual([30, "x-envoy-expected-rq-timeout-ms"]);
  const unreadable = read(["host", "a", "grpc-timeout", "soon", "bobtail-deadline-ms", "1e3"]);
  expect(unreadable.deadlineMs).toBe(Number.POSITIVE_INFINITY);
});

test("Connection takes away what it names, but nothing that every recipient needs", () => {
  const raw = ["host", "a", "connection", "X-A, cookie, close, upgrade", "x-a", "1", "cookie", "c"];
  const head = read([...raw, "upgrade", "WebSocket"]);
  expect([passed(head, "x-a"), passed(head, "cookie"), head.upgrade]).toEqual([
    undefined,
    "c",
    "websocket",
  ]);
  expect(read(["host", "a", "upgrade", "websocket", "connection", "close"]).upgrade).toBe("");
});

test("an IPv6 client is quoted in Forwarded, and a host cannot break out of its quotes", () => {
  const head = read(["host", 'a";for=evil'], new Peer("2001:db8::1", false));
  expect(passed(head, "forwarded")).toBe('for="[2001:db8::1]";host="a;for=evil";proto=http');
  expect(passed(head, "x-forwarded-for")).toBe("2001:db8::1");
});
