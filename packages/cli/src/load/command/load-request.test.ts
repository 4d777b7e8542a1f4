import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import { setupDifferences, setupHash } from "../output/run-setup.ts";
import { conditionFlag } from "./condition.ts";
import type { LoadFlags } from "./load-flags.ts";
import { readRequest } from "./load-request.ts";
import { readMoments } from "./read-moments.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-load-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const URL_A = "http://127.0.0.1:8080/a?b=c";

function file(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

test("with no options it is 50 a second for 10 s as users come, after 5 s of warm-up", async () => {
  const { setup } = await readRequest([URL_A], {});
  expect(setup).toMatchObject({
    profile: [{ fromPerSec: 50, toPerSec: 50, durationMs: 10_000 }],
    plannedCount: 500,
    arrivals: "poisson",
    warmupMs: 5_000,
    targets: [{ method: "GET", origin: "http://127.0.0.1:8080", path: "/a?b=c" }],
  });
});

test("the warm-up is a tenth of a long run, what was asked for, or nothing before a ramp from rest", async () => {
  const warmup = async (flags: LoadFlags) => (await readRequest([URL_A], flags)).setup.warmupMs;
  expect(await warmup({ duration: 120_000 })).toBe(12_000);
  expect(await warmup({ duration: 120_000, warmup: 0 })).toBe(0);
  expect(await warmup({ rate: { fromPerSec: 0, toPerSec: 100 } })).toBe(0);
  expect(await warmup({ rate: { fromPerSec: 10, toPerSec: 100 } })).toBe(5_000);
});

test("steps share the duration, and a ramp is one segment", async () => {
  const profile = async (flags: LoadFlags) => (await readRequest([URL_A], flags)).setup.profile;
  expect(await profile({ steps: [100, 300], duration: 4_000 })).toEqual([
    { fromPerSec: 100, toPerSec: 100, durationMs: 2_000 },
    { fromPerSec: 300, toPerSec: 300, durationMs: 2_000 },
  ]);
  expect(await profile({ rate: { fromPerSec: 10, toPerSec: 30 } })).toEqual([
    { fromPerSec: 10, toPerSec: 30, durationMs: 10_000 },
  ]);
});

test.each([
  ["localhost:8080/x", "Write http://localhost:8080/x."],
  ["runs/run.json", "bobtail load report runs/run.json"],
  ["http://127.0.0.1:99999/", "at most 65535"],
  ["u:p4ss@run.json", "Write http://127.0.0.1:8080/path."],
])("for %s, which is no URL, the remedy is what was probably meant", async (url, remedy) => {
  const failure = readRequest([url], {});
  await expect(failure).rejects.toMatchObject({ remedy: expect.stringContaining(remedy) });
});

test("several URLs, headers, bodies and a list of URLs become targets", async () => {
  const body = file("body.json", "{}");
  const urls = file("urls.txt", "# a comment\n\n3 GET http://127.0.0.1/x\nhttp://127.0.0.1/y\n");
  const { options } = await readRequest([URL_A, "http://[::1]/"], {
    weights: [2, 1],
    header: ["x-a: 1:2", "Accept:text/plain"],
    body: `@${body}`,
    urls,
  });
  const shared = { headers: { "x-a": "1:2", Accept: "text/plain" }, body: Buffer.from("{}") };
  expect(options.targets).toEqual([
    { ...shared, url: URL_A, weight: 2 },
    { ...shared, url: "http://[::1]/", weight: 1 },
    { ...shared, url: "http://127.0.0.1/x", method: "GET", weight: 3 },
    { ...shared, url: "http://127.0.0.1/y" },
  ]);
  expect(options.addresses).toEqual({ "127.0.0.1": ["127.0.0.1"], "::1": ["::1"] });
});

test("a trace gives moments and paths, and never another host", async () => {
  const trace = file(
    "trace.csv",
    "at_ms,path\n1000,/p?q=1\n1500,http://8.8.8.8/p?q=1\n1250,//evil.test/r\n1300,x:/\\evil.test/s\n1400,x:\\\\evil.test/t\n",
  );
  const { options, setup } = await readRequest(["http://127.0.0.1:81/"], { trace });
  expect([...(options.plannedMs ?? [])]).toEqual([0, 250, 300, 400, 500]);
  const urls = (options.targets ?? []).map(({ url }) => url);
  expect(new Set(urls.map((url) => new URL(url).host))).toEqual(new Set(["127.0.0.1:81"]));
  expect(urls[0]).toBe("http://127.0.0.1:81/p?q=1");
  expect(setup.plannedCount).toBe(5);
});

test("a trace is read from CSV without a header and from JSON lines, cut to the duration, and refused with its place", async () => {
  const read = (text: string, options = {}) =>
    readMoments("t", { ...options, open: () => Readable.from([Buffer.from(text)]) });
  expect([...(await read("5\n1\n3\n", { timeUnit: "s" })).plannedMs]).toEqual([0, 2_000, 4_000]);
  const json =
    '{"ts":"2026-01-01T00:00:01Z","url":"/a"}\n{"ts":"2026-01-01T00:00:03Z","url":"/a"}\n';
  const moments = await read(json);
  expect([[...moments.plannedMs], [...moments.paths]]).toEqual([[0, 2_000], [["/a", 2]]]);
  expect((await read(json, { duration: 1_000 })).plannedMs).toHaveLength(1);
  await expect(read("at_ms\n1\nx\n")).rejects.toThrow("t:3: no time in it");
  await expect(read("1\n2\n")).rejects.toThrow("t:1: the arrivals have no unit");
  await expect(read("")).rejects.toThrow("no request in it");
  await expect(read("a,b\n1,2\n")).rejects.toThrow("nothing is named as the arrival");
});

test("a trace may be packed with gzip, whatever its name, and its places are those of the text", async () => {
  const text = "at_ms,path\n1000,/p\n1500,/q\n";
  const packed = file("trace.csv.gz", gzipSync(text));
  for (const trace of [packed, file("trace.txt", gzipSync(text)), file("plain.csv", text)]) {
    const { options } = await readRequest(["http://127.0.0.1:81/"], { trace });
    expect([...(options.plannedMs ?? [])]).toEqual([0, 500]);
    expect((options.targets ?? []).map(({ url }) => new URL(url).pathname)).toEqual(["/p", "/q"]);
  }
  const wrong = file("wrong.csv.gz", gzipSync("at_ms\n1\nx\n"));
  await expect(readMoments(wrong)).rejects.toThrow("wrong.csv.gz:3: no time in it");
  const cut = file("cut.csv.gz", gzipSync(text).subarray(0, 20));
  await expect(readMoments(cut)).rejects.toThrow("the gzip data is cut short");
});

test("a quoted cell of a trace may hold line ends, and one that does not end is told with its line", async () => {
  const read = (text: string) =>
    readMoments("t", { open: () => Readable.from([Buffer.from(text)]) });
  const text = '\ufeffat_ms,agent,path\n5,"a\nb ""c""",/p\n7,"d",/q\n';
  const { plannedMs, paths } = await read(text);
  expect([[...plannedMs], [...paths.keys()]]).toEqual([
    [0, 2],
    ["/p", "/q"],
  ]);
  await expect(read('at_ms,agent\n5,a\n6,"b\n7,c\n')).rejects.toThrow(
    "t:3: a quoted cell that does not end",
  );
  await expect(read("x\tat_ms\n\t5\n")).resolves.toMatchObject({ plannedMs: { length: 1 } });
});

const RATE = { fromPerSec: 5, toPerSec: 5 };
test.each<[string, readonly string[], LoadFlags, RegExp]>([
  ["no URL", [], {}, /no URL/],
  ["no scheme", ["localhost:8080/x"], {}, /not an http or https URL/],
  ["another scheme", ["ftp://127.0.0.1/"], {}, /not an http or https URL/],
  ["a password", ["http://u:p4ss@127.0.0.1/"], {}, /\*\*\*@127\.0\.0\.1: a URL with a password/],
  ["weights for others", [URL_A], { weights: [1, 2] }, /--weights/],
  ["a password and no scheme", ["u:p4ss@127.0.0.1/"], {}, /^\*\*\*@127\.0\.0\.1\/: this is not/],
  ["a password and another scheme", ["ftp://u:p4ss@host/"], {}, /^\*\*\*@host\/: this is not/],
  ["a header without a name", [URL_A], { header: ["a: b", ": x"] }, /-H number 2:/],
  ["a header without a colon", [URL_A], { header: ["bearer p4ss"] }, /-H number 1:/],
  ["a header of control characters", [URL_A], { header: ["a: p4ss\u0001"] }, /header.*"a"/],
  ["a framing header", [URL_A], { header: ["content-length: 5"] }, /not about framing/],
  ["a header on two lines", [URL_A], { header: ["a: b\nc: d"] }, /header.*"a"/],
  ["a body that is not there", [URL_A], { body: "@/no/such" }, /no such file/],
  [
    "a certificate that is none",
    [URL_A],
    { ca: file("ca.pem", "p4ss") },
    /ca\.pem: this is no cert/,
  ],
  ["two ways to say when", [URL_A], { rate: RATE, steps: [1] }, /--rate and --steps/],
  [
    "a search over a trace",
    [URL_A],
    { trace: "t", findLimit: conditionFlag("p99<5ms") },
    /--find-limit and --trace/,
  ],
  ["a time field without a trace", [URL_A], { timeField: "x" }, /--time-field needs --trace/],
  ["more connections than requests", [URL_A], { connections: 9, maxInFlight: 3 }, /connections/],
  [
    "more connections than requests, in words of the command line",
    [URL_A],
    { connections: 9, maxInFlight: 3 },
    /--connections 9: at most --max-in-flight 3/,
  ],
  ["fewer connections than threads", [URL_A], { connections: 3, workers: 4 }, /--workers 4: each/],
  ["fewer in flight than threads", [URL_A], { maxInFlight: 3, workers: 4 }, /and there are 3/],
  ["one weight too many", [URL_A], { weights: [1, 2] }, /--weights: 2 weights for 1 URL$/],
  ["a misspelt report", ["repotr", "run.json"], {}, /^repotr: this is not an http/],
  ["nothing to send", [URL_A], { rate: RATE, duration: 1 }, /no request is planned/],
  ["CONNECT", [URL_A], { method: "CONNECT" }, /method/],
])(
  "a mistake is told with its remedy, and a password never: %s",
  async (_, urls, flags, message) => {
    const failure = await readRequest(urls, flags).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandFailure);
    expect(failure).toMatchObject({
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(/./),
      exitCode: EXIT.usage,
    });
    expect(String(failure)).not.toContain("p4ss");
  },
);

test("whoever means a stored result is told the command for it", async () => {
  await expect(readRequest(["repotr", "run.json"], {})).rejects.toMatchObject({
    remedy: "To see stored results: bobtail load report FILE. To send to it: http://repotr.",
  });
});

test("what must match for a comparison is hashed: not the host and the seed, but all that shapes the load", async () => {
  const of = async (url: string, flags: LoadFlags = {}) => (await readRequest([url], flags)).setup;
  const base = await of(URL_A);
  expect(setupHash(await of("http://127.0.0.1:9999/a?b=c", { seed: 7 }), "1")).toBe(
    setupHash(base, "1"),
  );
  expect(setupHash(base, "2")).not.toBe(setupHash(base, "1"));
  const other = await of("http://127.0.0.1:8080/other", {
    timeout: 5,
    header: ["a: b"],
    rate: RATE,
  });
  expect(setupDifferences(base, other)).toEqual(["rate", "requests", "timeout"]);
  expect(setupHash(other, "1")).not.toBe(setupHash(base, "1"));
});
