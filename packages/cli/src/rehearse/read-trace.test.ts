import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type ReadTraceOptions, readTrace } from "./read-trace.ts";

const read = (text: string, options: ReadTraceOptions = {}) =>
  readTrace("trace", { open: () => Readable.from([Buffer.from(text)]), ...options });

test("a CSV trace: arrivals from the first one on, sizes in ms, columns found by their names", async () => {
  const trace = await read("id,at_ms,service_us\na,1000,500\nb,1002.5,1500\n");
  expect(trace).toMatchObject({ atMs: [0, 2.5], sizeMs: [0.5, 1.5], measure: "size", skips: [] });
  expect([trace.timeField, trace.sizeField]).toEqual(["at_ms", "service_us"]);
});

test("quoted cells of a trace may hold line ends; a stray quote loses its line alone", async () => {
  const trace = await read(
    'path,at_ms,size_ms\n"/a\n""b"", c",1,5\n"/open,2,6\n/c,3,7\n"/d",4,8\n"/e "f",5,9\n',
  );
  expect(trace.sizeMs).toEqual([5, 7, 8]);
  expect(trace.skips).toEqual([
    { reason: "a quoted cell that does not end", count: 1, firstPlace: "trace:4" },
    { reason: "a quote inside quotes that is not doubled", count: 1, firstPlace: "trace:7" },
  ]);
  await expect(read('"at_ms,size_ms\n1,2\n')).rejects.toThrow("trace:1: a quoted cell");
});

test("a trace that is packed with gzip reads like the plain one", async () => {
  const text = "at_ms,size_ms\n1,5\n2,6\n";
  const packed = await readTrace("trace", { open: () => Readable.from([gzipSync(text)]) });
  expect(packed).toEqual(await read(text));
});

test("JSON lines with ISO times and latencies that have their unit, in fields inside others too", async () => {
  const trace = await read(
    '{"timestamp":"2026-01-01T00:00:00.000Z","latency":"12ms"}\n{"timestamp":"2026-01-01T00:00:01.250Z","latency":"1.5s"}\n',
  );
  expect(trace).toMatchObject({ atMs: [0, 1250], sizeMs: [12, 1500], measure: "latency" });
  const nested = await read('{"t":{"at":1},"took":3}\n{"t":{"at":2},"took":4}\n', {
    timeField: "t.at",
    timeUnit: "s",
    unit: "ms",
  });
  expect(nested.atMs).toEqual([0, 1000]);
});

test("without a header the first column is the arrival and the second the size, or those that are named by number", async () => {
  const options = { timeUnit: "s", unit: "ms" } as const;
  expect(await read("0 ,5\n1,6\n", options)).toMatchObject({ atMs: [0, 1000], sizeMs: [5, 6] });
  const other = await read("5,x,0\n6,x,1\n", { ...options, timeField: "3", sizeField: "1" });
  expect(other).toMatchObject({ atMs: [0, 1000], sizeMs: [5, 6] });
});

test("a log written when answers left is put in order of arrival", async () => {
  const text = "end_time,took_ms\n2026-01-01T00:00:00.100Z,90\n2026-01-01T00:00:00.110Z,105\n";
  const trace = await read(text, { timeAt: "end" });
  expect(trace).toMatchObject({ atMs: [0, 5], sizeMs: [105, 90] });
});

test("bad lines are left out, counted by reason, and the first of each has its place", async () => {
  const trace = await read("at_ms,size_ms\n0,1\n1,NaN\n2,-1\n3,1e999\nsoon,1\n4\n5,2\n");
  expect(trace.atMs).toEqual([0, 5]);
  expect(trace.skips).toEqual([
    { reason: "size: not a number", count: 2, firstPlace: "trace:3" },
    { reason: "size: negative", count: 1, firstPlace: "trace:4" },
    { reason: "time: neither a number nor ISO 8601", count: 1, firstPlace: "trace:6" },
    { reason: "too few columns", count: 1, firstPlace: "trace:7" },
  ]);
});

test("a trace that is too long is cut, and says so", async () => {
  const trace = await read("at_ms,size_ms\n0,1\n1,1\n2,1\n", { maxRequests: 2 });
  expect(trace).toMatchObject({ atMs: [0, 1], isCut: true });
});

test.each([
  ["", /nothing in it/, /holds requests/],
  ["at_ms,size_ms\n", /no request/, /holds requests/],
  ["at_ms,size_ms\n1,x\n", /no request/, /trace:2 \(size: not a number\)/],
  ["at_ms,size_ms\n1,2\n", /only one request/, /./],
  ["at,size_ms\n1,2\n3,4\n", /trace:2: "at" has no unit/, /--time-unit/],
  ["at_ms,size\n1,2\n3,4\n", /trace:2: "size" has no unit/, /--unit/],
  ["a,b\n1,2\n", /trace:1: nothing is named as the size or latency, of "a", "b"/, /--size-field/],
  ["took_ms,latency_ms,at_ms\n", /several names could be the size/, /--size-field/],
  ["size_ms,b\n1,2\n", /nothing is named as the arrival/, /--time-field/],
  ["\u0001\u0002\u0000\u0000\n", /not a text file/, /Unpack/],
  ["{broken\n", /trace:1: not a JSON object/, /one JSON object a line/],
])("%j fails with its place, the reason and a remedy", async (text, reason, remedy) => {
  const error = await read(text).then(
    () => undefined,
    (thrown: unknown) => thrown as Error & { remedy: string },
  );
  expect(error?.message).toMatch(reason);
  expect(error?.remedy).toMatch(remedy);
});

test("a column that is not there fails with those that are", async () => {
  await expect(read("at_ms,size_ms\n1,2\n", { sizeField: "work" })).rejects.toMatchObject({
    message: 'trace:1: no column "work"',
    remedy: 'Its columns are "at_ms", "size_ms".',
  });
});
