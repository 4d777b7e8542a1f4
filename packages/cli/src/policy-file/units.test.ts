import fc from "fast-check";
import { expect, test } from "vitest";
import {
  readDurationMs,
  readListenAddress,
  readRatio,
  readSizeBytes,
  showListenAddress,
} from "./units.ts";

const value = (reading: { ok: boolean; value?: unknown }) =>
  reading.ok ? reading.value : "refused";

test("durations are milliseconds, whatever unit they are written in", () => {
  expect(["12ms", "1.5s", "2m", "1h", "0ms"].map((d) => value(readDurationMs(d)))).toEqual([
    12, 1500, 120_000, 3_600_000, 0,
  ]);
});

test("a number without a unit is no duration, and the remedy shows both readings", () => {
  expect(readDurationMs(30)).toMatchObject({ ok: false, remedy: "Write 30ms or 30s." });
});

test("what is no duration is refused, and so is more than a day", () => {
  for (const written of ["", "12", "ms", "-1ms", "1e3ms", "1 s", "1s2ms", "25h", ".5s", null, []]) {
    expect(value(readDurationMs(written))).toBe("refused");
  }
});

test("5% and 0.05 are the same ratio, without a rounding error", () => {
  expect([5, 7, 2.5, 12.3, 100].map((p) => value(readRatio(`${p}%`)))).toEqual([
    0.05, 0.07, 0.025, 0.123, 1,
  ]);
  expect(value(readRatio(0.05))).toBe(0.05);
  for (const written of ["5", "%", "5 %", "-5%", Number.NaN, Number.POSITIVE_INFINITY, null]) {
    expect(value(readRatio(written))).toBe("refused");
  }
});

test("sizes are whole bytes: KiB is 1024, kB is 1000", () => {
  expect(["64KiB", "1MB", "2kB", "1.5KiB", "10B"].map((s) => value(readSizeBytes(s)))).toEqual([
    65_536, 1_000_000, 2000, 1536, 10,
  ]);
  expect(value(readSizeBytes(4096))).toBe(4096);
  for (const written of ["64K", "64", "1.0001KiB", -1, 1.5, "", null, "99999999999GiB"]) {
    expect(value(readSizeBytes(written))).toBe("refused");
  }
});

test("addresses to listen on: a host, an IPv6 address in brackets, or every interface", () => {
  expect(value(readListenAddress("localhost:80"))).toEqual({ host: "localhost", port: 80 });
  expect(value(readListenAddress("[::1]:8080"))).toEqual({ host: "::1", port: 8080 });
  expect(value(readListenAddress(":0"))).toEqual({ host: "", port: 0 });
  for (const written of [
    "8080",
    "host",
    "::1:80",
    "h:99999",
    "http://h:80",
    "h:80/x",
    8080,
    null,
  ]) {
    expect(value(readListenAddress(written))).toBe("refused");
  }
});

test("an address shown is the address read", () => {
  const host = fc.constantFrom("", "localhost", "127.0.0.1", "::1", "a-b.c");
  fc.assert(
    fc.property(host, fc.nat(65_535), (name, port) => {
      const address = { host: name, port };
      expect(value(readListenAddress(showListenAddress(address)))).toEqual(address);
    }),
  );
});
