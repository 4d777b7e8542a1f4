import fc from "fast-check";
import { expect, test } from "vitest";
import { ResponseParser } from "./response-parser.ts";

interface Heard {
  status: number[];
  body: string;
  /** Of each whole answer. */
  keepAliveMs: number[];
  problem: string | undefined;
}

/** Reads an answer cut at these places, and then the end of the connection where `closes`. */
function hear(
  text: string,
  { cuts = [], isHead = false, closes = false }: Partial<Reading> = {},
): Heard {
  const heard: Heard = { status: [], body: "", keepAliveMs: [], problem: undefined };
  const parser = new ResponseParser({
    onHead: (status) => heard.status.push(status),
    onBody: (bytes) => {
      heard.body += Buffer.from(bytes).toString("latin1");
    },
    onEnd: (keepAliveMs) => heard.keepAliveMs.push(keepAliveMs),
  });
  parser.expect(isHead);
  const bytes = Buffer.from(text, "latin1");
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  places.sort((a, b) => a - b);
  for (let i = 1; i < places.length && heard.problem === undefined; i++)
    heard.problem = parser.read(Buffer.from(bytes.subarray(places[i - 1], places[i])));
  if (closes) heard.problem ??= parser.end();
  return heard;
}

interface Reading {
  readonly cuts: readonly number[];
  readonly isHead: boolean;
  readonly closes: boolean;
}

const FOREVER = Number.POSITIVE_INFINITY;
const WHOLE: Record<string, [string, Partial<Reading>, Omit<Heard, "problem">]> = {
  "a length": [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    {},
    { status: [200], body: "hello", keepAliveMs: [FOREVER] },
  ],
  "no body": [
    "HTTP/1.1 404 \r\ncontent-length:0\r\n\r\n",
    {},
    { status: [404], body: "", keepAliveMs: [FOREVER] },
  ],
  "no reason phrase": [
    "HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx",
    {},
    { status: [200], body: "x", keepAliveMs: [FOREVER] },
  ],
  chunks: [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n",
    {},
    { status: [200], body: "abc0123456789", keepAliveMs: [FOREVER] },
  ],
  "chunks with trailers": [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\nx: y\r\nz: w\r\n\r\n",
    {},
    { status: [200], body: "a", keepAliveMs: [FOREVER] },
  ],
  "until it closes": [
    "HTTP/1.1 200 OK\r\n\r\nto the end",
    { closes: true },
    { status: [200], body: "to the end", keepAliveMs: [0] },
  ],
  "interim answers before it": [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    {},
    { status: [204], body: "", keepAliveMs: [FOREVER] },
  ],
  "the length of what it would have sent": [
    "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n",
    { isHead: true },
    { status: [200], body: "", keepAliveMs: [FOREVER] },
  ],
  "not modified": [
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 500\r\n\r\n",
    {},
    { status: [304], body: "", keepAliveMs: [FOREVER] },
  ],
  "an old version": [
    "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx",
    {},
    { status: [200], body: "x", keepAliveMs: [0] },
  ],
  "an old version that keeps alive": [
    "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\ncontent-length: 1\r\n\r\nx",
    {},
    { status: [200], body: "x", keepAliveMs: [FOREVER] },
  ],
  "a close": [
    "HTTP/1.1 200 OK\r\nConnection: x, close\r\ncontent-length: 1\r\n\r\nx",
    {},
    { status: [200], body: "x", keepAliveMs: [0] },
  ],
  "how long it keeps": [
    "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\ncontent-length: 1\r\n\r\nx",
    {},
    { status: [200], body: "x", keepAliveMs: [5_000] },
  ],
};

test.each(Object.entries(WHOLE))("an answer with %s is read, wherever it is cut", (_, row) => {
  const [text, reading, expected] = row;
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 12 }), (cuts) => {
      expect(hear(text, { ...reading, cuts })).toEqual({ ...expected, problem: undefined });
    }),
  );
  const every = Array.from({ length: text.length }, (_, i) => i);
  expect(hear(text, { ...reading, cuts: every })).toEqual({ ...expected, problem: undefined });
});

const HEAD = "HTTP/1.1 200 OK\r\n";
test.each([
  ["another protocol", "SSH-2.0-x\r\n", /status line/],
  ["another version", "HTTP/2.0 200 OK\r\n\r\n", /status line/],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", /status line/],
  ["a status that is none", "HTTP/1.1 abc OK\r\n\r\n", /status line/],
  ["lines that end without a carriage return", "HTTP/1.1 200 OK\nx: y\n\n", /carriage return/],
  ["one such line", `${HEAD}x: y\nz: w\r\n\r\n`, /control characters/],
  ["a zero byte", `${HEAD}x: \0\r\n\r\n`, /control characters/],
  ["a folded line", `${HEAD}x: y\r\n z\r\n\r\n`, /without a name/],
  ["a space before the colon", `${HEAD}content-length : 1\r\n\r\nx`, /without a name/],
  ["a length that is no number", `${HEAD}content-length: +1\r\n\r\nx`, /content length/],
  ["two lengths", `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nx`, /two content/],
  ["both framings", `${HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`, /both/],
  ["an unknown coding", `${HEAD}transfer-encoding: gzip\r\n\r\n`, /transfer encoding/],
  ["an upgrade nobody asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n", /protocol/],
  ["a chunk without a size", `${HEAD}transfer-encoding: chunked\r\n\r\n\r\n`, /chunk/],
  ["a negative chunk", `${HEAD}transfer-encoding: chunked\r\n\r\n-1\r\n`, /chunk/],
  ["a chunk of 2^48 bytes", `${HEAD}transfer-encoding: chunked\r\n\r\n1000000000000\r\n`, /chunk/],
  ["a chunk longer than it says", `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\nab`, /chunk/],
  ["an endless head", `${HEAD}${"x: y\r\n".repeat(11_000)}`, /64 KiB/],
  ["endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(65), /interim/],
  ["more than it announced", `${HEAD}content-length: 1\r\n\r\nxy`, /beyond/],
])("an answer with %s is malformed, wherever it is cut", (_, text, problem) => {
  expect(hear(text).problem).toMatch(problem);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      expect(hear(text, { cuts }).problem).toBeDefined();
    }),
    { numRuns: 20 },
  );
});

test.each([
  ["before its head", "", "closed without an answer"],
  ["in its head", "HTTP/1.1 200 OK\r\nx:", "cut short"],
  ["in its body", `${HEAD}content-length: 10\r\n\r\nabc`, "cut short"],
  ["in a chunk", `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nab`, "cut short"],
  ["before the last chunk", `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`, "cut short"],
])("a connection that closes %s has failed the request", (_, text, problem) => {
  expect(hear(text, { closes: true })).toMatchObject({ problem, keepAliveMs: [] });
});

test("whatever the bytes are, the parser ends: it answers, waits or refuses", () => {
  const part = fc.constantFrom(
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 ",
    "content-length: 3\r\n",
    "transfer-encoding: chunked\r\n",
    "\r\n",
    "\n",
    "3\r\nabc\r\n",
    "0\r\n",
    "abc",
    ":",
    "\0",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(99)), (parts, cuts) => {
      const whole = hear(parts.join(""), { closes: true });
      expect(whole.keepAliveMs.length).toBeLessThanOrEqual(1);
      // Cut or not, it hears the same.
      const cut = hear(parts.join(""), { closes: true, cuts });
      expect([cut.status, cut.keepAliveMs.length, cut.problem === undefined]).toEqual([
        whole.status,
        whole.keepAliveMs.length,
        whole.problem === undefined,
      ]);
    }),
    { numRuns: 2_000 },
  );
});
