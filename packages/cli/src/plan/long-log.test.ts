import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { readLatencies } from "./read-latencies.ts";

/** Latencies by a fixed rule, as a CSV that is never in memory as a whole. */
function* chunks(lines: number): Generator<Buffer> {
  yield Buffer.from("latency_ms,backup_ms\n");
  let state = 1;
  let text = "";
  for (let i = 0; i < lines; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const ms = -10 * Math.log(1 - state / 2 ** 32);
    text += `${ms.toFixed(4)},${(ms / 2).toFixed(4)}\n`;
    if (text.length > 65_536) {
      yield Buffer.from(text);
      text = "";
    }
  }
  yield Buffer.from(text);
}

function read(lines: number, pairField?: string) {
  let progress = 0;
  const log = readLatencies(["long.csv"], {
    pairField,
    open: () => Readable.from(chunks(lines)),
    onProgress: () => progress++,
  });
  return log.then((found) => ({ log: found, progress }));
}

test("a long log is counted in buckets whose number does not grow with it", async () => {
  const { log, progress } = await read(300_000);
  const longer = await read(1_200_000);
  expect([log.isCompressed, log.count, longer.log.count]).toEqual([true, 300_000, 1_200_000]);
  expect(longer.log.latency.valuesMs.length).toBeLessThan(1.2 * log.latency.valuesMs.length);
  expect(longer.log.latency.valuesMs.length).toBeLessThan(5_000);
  expect(longer.progress).toBeGreaterThan(progress);
  for (const q of [0.5, 0.99, 0.999])
    expect(Math.abs(longer.log.latency.quantile(q) / (-10 * Math.log(1 - q)) - 1)).toBeLessThan(
      0.03,
    );
});

test("a short one is kept to the digit", async () => {
  const { log } = await read(1_000);
  expect([log.isCompressed, log.count]).toEqual([false, 1_000]);
});

test("of its pairs a fair sample is kept, drawn from all of it", async () => {
  const { log } = await read(200_000, "backup_ms");
  expect([log.pairs.length, log.pairCount]).toEqual([50_000, 200_000]);
  const mean = log.pairs.reduce((sum, pair) => sum + pair.primaryMs, 0) / log.pairs.length;
  expect(Math.abs(mean / 10 - 1)).toBeLessThan(0.03);
});

test("memory does not grow with the length of the log", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapAfter = async (lines: number): Promise<number> => {
    const { log } = await read(lines);
    collect();
    const used = process.memoryUsage().heapUsed;
    expect(log.count).toBe(lines);
    return used;
  };
  await heapAfter(200_000);
  const short = await heapAfter(200_000);
  const long = await heapAfter(1_600_000);
  // 1.4 million more latencies kept would be 11 MB as doubles, and some 60 MB as lines.
  expect(long - short).toBeLessThan(4e6);
});

test("a file without line ends does not fill the memory", async () => {
  const endless = function* (): Generator<Buffer> {
    yield Buffer.from("latency_ms\n5\n");
    for (let i = 0; i < 40; i++) yield Buffer.alloc(1_048_576, "7");
    yield Buffer.from("\n6\n");
  };
  const log = await readLatencies(["x.csv"], { open: () => Readable.from(endless()) });
  expect(log.count).toBe(2);
  expect(log.skips).toEqual([{ reason: "longer than 1 MiB", count: 1, firstPlace: "x.csv:3" }]);
});

test("nor does a quote that nobody closes, nor a long line inside one", async () => {
  const lines = function* (): Generator<Buffer> {
    yield Buffer.from('latency_ms,note\n5,"open\n');
    for (let i = 0; i < 40; i++) yield Buffer.from("6,x\n".repeat(50_000));
    yield Buffer.from('7,"open\n');
    yield Buffer.alloc(2_000_000, "7");
    yield Buffer.from("\n8,y\n");
  };
  const log = await readLatencies(["x.csv"], { open: () => Readable.from(lines()) });
  expect(log.count).toBe(2_000_001);
  expect(log.skips).toEqual([
    { reason: "a quoted cell that does not end", count: 2, firstPlace: "x.csv:2" },
    { reason: "longer than 1 MiB", count: 1, firstPlace: "x.csv:2000004" },
  ]);
});

test("a file that is not there is said so", async () => {
  await expect(readLatencies(["/nowhere/at/all.csv"])).rejects.toThrow(
    "/nowhere/at/all.csv: no such file",
  );
});
