import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CommandFailure } from "../terminal/failure.ts";
import { readLatencies } from "./read-latencies.ts";

const LINES = Array.from({ length: 2_000 }, (_, i) => `/path/${(i * 7919) % 1009},${1 + (i % 97)}`);
const TEXT = Buffer.from(`path,latency_ms\n${LINES.join("\n")}\n`);
const PACKED = gzipSync(TEXT);

function read(bytes: Buffer, name = "log", pieceBytes = 65_536) {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  );
  return readLatencies([name], { open: () => Readable.from(pieces) });
}

test("a packed log reads like the plain one, whatever its name and in pieces of any size", async () => {
  const plain = await read(TEXT);
  expect(plain.count).toBe(2_000);
  for (const [name, pieceBytes] of [
    ["access.log.1.gz", 65_536],
    ["misnamed.csv", 1],
    ["-", 7],
  ] as const)
    expect(await read(PACKED, name, pieceBytes)).toEqual(plain);
});

test("packed logs that were joined are one log", async () => {
  const second = gzipSync(Buffer.from("/x,5\n"));
  expect((await read(Buffer.concat([PACKED, second]))).count).toBe(2_001);
});

test("the name without .gz and the number of the rotation tells the format", async () => {
  const tabs = gzipSync('{"latency_ms":5}\n');
  expect((await read(tabs, "calls.jsonl.2.gz")).formats).toEqual(["json"]);
  expect((await read(gzipSync("latency_ms\n5\n"), "x.csv.gz")).formats).toEqual(["csv"]);
  expect((await read(Buffer.from("latency_ms\n5\n"), "x.csv.1")).formats).toEqual(["csv"]);
});

test("gzip data that is cut short anywhere is refused, with place and remedy", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: PACKED.length - 1 }), async (bytes) => {
      await expect(read(PACKED.subarray(0, bytes), "a.gz")).rejects.toMatchObject({
        name: "CommandFailure",
        message: expect.stringMatching(/^a\.gz:\d+: the gzip data is cut short, at its byte \d+$/),
        remedy: expect.stringContaining("gzip -dc"),
      });
    }),
  );
});

test("gzip data that was changed is refused, or reads as it was: never as something else", async () => {
  const plain = await read(TEXT);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: PACKED.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const changed = Buffer.from(PACKED);
        changed[at] = (changed[at] as number) ^ flip;
        const log = await read(changed, "a.gz").catch((error: unknown) => error);
        if (log instanceof CommandFailure)
          expect(log.message).toMatch(/^a\.gz:\d+: the gzip data is (?:corrupt|cut short)/);
        else expect(log).toEqual(plain);
      },
    ),
  );
});

test("a small file that unpacks to 400 MB without a line end fills no memory", async () => {
  const member = gzipSync(Buffer.alloc(4_194_304, "7"), { level: 9 });
  const bomb = Buffer.concat([
    gzipSync("latency_ms\n5\n"),
    ...Array.from({ length: 100 }, () => member),
    gzipSync("\n6\n"),
  ]);
  expect(bomb.length).toBeLessThan(600_000);
  const used = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let most = 0;
  const log = await readLatencies(["bomb.gz"], {
    open: () => Readable.from([bomb]),
    onProgress: () => {
      most = Math.max(most, used() - before);
    },
  });
  expect(log.skips).toEqual([{ reason: "longer than 1 MiB", count: 1, firstPlace: "bomb.gz:3" }]);
  expect(log.count).toBe(2);
  expect(most).toBeLessThan(150e6);
});

test.each([
  ["28b52ffd0458", "zstd -dc"],
  ["fd377a585a0000", "xz -dc"],
  ["425a6839314159265359", "bzip2 -dc"],
  ["504b030414", "unzip -p"],
])("other packers are named, with what unpacks them: %s", async (hex, command) => {
  await expect(read(Buffer.from(hex, "hex"), "log.x")).rejects.toMatchObject({
    message: expect.stringMatching(/^log\.x:1: packed with /),
    remedy: expect.stringContaining(command),
  });
});

test("a log shorter than any magic is a log, and one that packs nothing holds nothing", async () => {
  expect((await read(Buffer.from("7ms"))).count).toBe(1);
  await expect(read(gzipSync(""), "a.gz")).rejects.toThrow("a.gz: nothing in it");
  await expect(read(Buffer.alloc(0), "a.gz")).rejects.toThrow("a.gz: nothing in it");
});
