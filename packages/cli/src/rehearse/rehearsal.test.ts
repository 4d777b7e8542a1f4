import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRng } from "bobtail/engine";
import type { ServiceOptions } from "bobtail/sim";
import { afterEach, expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { readCandidates } from "./candidates.ts";
import { type RehearsedEndpoint, rehearseAll, type Stage } from "./rehearsal.ts";
import { rehearsalJson, rehearsalText } from "./rehearsal-report.ts";
import { rehearsalOf } from "./rehearse.ts";
import { slowFlag, workersOfFlag } from "./stage-flags.ts";
import type { Trace } from "./trace.ts";

const PLAIN = createPalette(false);
const STAGE: Stage = {
  workers: 4,
  slow: new Map([[0, 5]]),
  queueTimeoutMs: 1000,
  copies: "same-size",
  cancel: "queued",
  warmUpRatio: 0.1,
  runs: 3,
  seed: 1,
};
const ROUND_ROBIN: ServiceOptions = {
  balance: { policy: "round-robin", errorPenalty: false },
  retry: { max: 0 },
  limit: { outstanding: 16_384, perEndpoint: 8_192 },
};
const HEDGED: ServiceOptions = { hedge: { afterMs: "auto" }, budget: { extraRatio: 0.05 } };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Poisson arrivals that keep ten servers of four workers, one of them five times slower, busy at 70 %. */
function trace(requests: number, meanMs = 10): Trace {
  const rng = seededRng(7);
  const exponential = (mean: number): number => -mean * Math.log(1 - rng.next());
  let nowMs = 0;
  const atMs = Array.from({ length: requests }, () => {
    nowMs += exponential(1000 / 2576);
    return nowMs;
  });
  const sizeMs = atMs.map(() => exponential(meanMs));
  const fields = { timeField: "at_ms", sizeField: "size_ms" };
  return { file: "t.csv", atMs, sizeMs, measure: "size", skips: [], isCut: false, ...fields };
}

const EVEN: RehearsedEndpoint[] = Array.from({ length: 10 }, () => endpoint());
const candidate = (name: string, options: ServiceOptions, endpoints = EVEN) => ({
  name,
  options,
  endpoints,
});

function endpoint(weight = 1, virtual = false): RehearsedEndpoint {
  return { weight, virtual };
}

test("what is known of the fleet with one slow backend comes out, and the change against the first policy", async () => {
  const candidates = [candidate("before", ROUND_ROBIN), candidate("after", HEDGED)];
  const [before, after] = await rehearseAll(candidates, trace(60_000), STAGE);
  expect(before?.latencyMs.p99?.mean).toBeGreaterThan(900);
  expect(before?.failedRatio.mean).toBeCloseTo(0.069, 2);
  expect(before?.shareRatios[0]).toBeCloseTo(0.1, 3);
  expect(before?.change).toBeUndefined();
  expect(after?.latencyMs.p99?.mean).toBeLessThan(70);
  expect(after?.failedRatio.mean).toBe(0);
  expect(after?.extraRatio.mean).toBeLessThan(0.051);
  expect(after?.extraRatio.mean).toBeGreaterThan(0.005);
  expect(after?.shareRatios[0]).toBeLessThan(0.02);
  expect(after?.change?.p99?.mean).toBeLessThan(-0.9);
});

test("the same seed gives the same figures, another one others", async () => {
  const run = (seed: number) =>
    rehearseAll([candidate("a", HEDGED)], trace(5000), { ...STAGE, seed, runs: 2 });
  const p99 = async (seed: number) => (await run(seed))[0]?.latencyMs.p99?.mean;
  expect(await p99(1)).toBe(await p99(1));
  expect(await p99(1)).not.toBe(await p99(9));
});

test("copies of the same size gain nothing from a hedge where no server has a queue, independent ones do", async () => {
  const hedge: ServiceOptions = { hedge: { afterMs: 20 }, budget: { extraRatio: 1 } };
  const stage: Stage = { ...STAGE, workers: "unlimited", slow: new Map() };
  const candidates = [candidate("plain", {}), candidate("hedged", hedge)];
  const [, same] = await rehearseAll(candidates, trace(20_000), stage);
  const [, free] = await rehearseAll(candidates, trace(20_000), {
    ...stage,
    copies: "independent",
  });
  expect(same?.change?.p99?.mean).toBe(0);
  expect(free?.change?.p99?.mean).toBeLessThan(-0.2);
});

test("a quantile that the trace is too short for is not shown", async () => {
  const candidates = [candidate("short.yaml", {})];
  const stage = { ...STAGE, runs: 1 };
  const short = trace(500);
  const rows = await rehearseAll(candidates, short, stage);
  expect(rows[0]?.latencyMs.p999).toBeUndefined();
  expect(rows[0]?.latencyMs.p99).toBeDefined();
  const report = { trace: short, stage, candidates, rows };
  expect(rehearsalText(report, PLAIN)).toContain("too few");
  expect(rehearsalJson(report)).toMatchObject({ policies: [{ latency_ms: { p999: null } }] });
});

test("the report shows cost beside gain, the shares of the servers, and what limits it", async () => {
  const candidates = [candidate("before.yaml", ROUND_ROBIN), candidate("after.yaml", HEDGED)];
  const recorded: Trace = {
    ...trace(6000),
    measure: "latency",
    isCut: true,
    skips: [{ reason: "too few columns", count: 3, firstPlace: "t.csv:9" }],
  };
  const rows = await rehearseAll(candidates, recorded, STAGE);
  const report = { trace: recorded, stage: STAGE, candidates, rows };
  const text = rehearsalText(report, PLAIN);
  expect(text).toContain("server 0 5 times slower");
  expect(text).toContain("against before.yaml");
  expect(text).toMatch(/after\.yaml +[+-]\d.* pt/);
  expect(text).toContain("these figures are too high");
  expect(text).toContain("3 lines, too few columns (first at t.csv:9)");
  expect(text).toContain("Only the first 6,000 requests");
  expect(JSON.parse(JSON.stringify(rehearsalJson(report)))).toMatchObject({
    schema: "bobtail.rehearse/1",
    stage: { slow: { 0: 5 }, runs: 3 },
    policies: [
      { file: "before.yaml", servers: 10, change_ratio: null },
      { file: "after.yaml", change_ratio: { p99: {} } },
    ],
  });
});

test("endpoints get the traffic that their weights ask for, before servers that are alike unless it is said otherwise", async () => {
  const weighted = EVEN.map((_, i) => endpoint(i === 0 ? 5 : 1));
  const candidates = [
    candidate("even.yaml", ROUND_ROBIN),
    candidate("weighted.yaml", ROUND_ROBIN, weighted),
  ];
  const alike: Stage = { ...STAGE, slow: new Map(), queueTimeoutMs: undefined };
  const larger: Stage = { ...alike, workersOf: new Map([[0, 20]]) };
  const [, overloaded] = await rehearseAll(candidates, trace(20_000), alike);
  const [even, fitting] = await rehearseAll(candidates, trace(20_000), larger);
  expect(even?.shareRatios[0]).toBeCloseTo(0.1, 3);
  expect(overloaded?.shareRatios[0]).toBeCloseTo(5 / 14, 2);
  expect(fitting?.shareRatios[0]).toBeCloseTo(5 / 14, 2);
  expect(overloaded?.change?.p99?.mean).toBeGreaterThan(5);
  expect(fitting?.change?.p99?.mean).toBeLessThan(0);
});

test("a second copy goes to the same endpoint where that is virtual, and only there", async () => {
  const hedge: ServiceOptions = { hedge: { afterMs: 20 }, budget: { extraRatio: 1 } };
  const stage: Stage = { ...STAGE, workers: "unlimited", slow: new Map(), copies: "independent" };
  const candidates = [
    candidate("real", hedge, [endpoint()]),
    candidate("virtual", hedge, [endpoint(1, true)]),
  ];
  const [real, virtual] = await rehearseAll(candidates, trace(5000), stage);
  expect(real?.extraRatio.mean).toBe(0);
  expect(virtual?.extraRatio.mean).toBeGreaterThan(0.1);
  expect(virtual?.change?.p99?.mean).toBeLessThan(-0.1);
});

test("the report shows what weights ask for, and says what they and virtual endpoints are taken to be", async () => {
  const short = trace(500);
  const candidates = [candidate("w.yaml", ROUND_ROBIN, [endpoint(3), endpoint(1, true)])];
  const text = async (stage: Stage): Promise<string> => {
    const rows = await rehearseAll(candidates, short, stage);
    expect(rehearsalJson({ trace: short, stage, candidates, rows })).toMatchObject({
      policies: [{ servers: 2, endpoints: [{ weight: 3 }, { weight: 1, virtual: true }] }],
    });
    return rehearsalText({ trace: short, stage, candidates, rows }, PLAIN).replace(/\s+/g, " ");
  };
  const alike = await text({ ...STAGE, runs: 1 });
  expect(alike).toContain("asked 75.0 % 25.0 %");
  expect(alike).toContain("all have 4 workers");
  expect(alike).toContain("A virtual endpoint is one server here");
  const told = await text({ ...STAGE, runs: 1, workersOf: new Map([[0, 12]]) });
  expect(told).toContain("of 4 workers, server 0 12");
  expect(told).not.toContain("all have 4 workers");
  expect(await text({ ...STAGE, runs: 1, workers: "unlimited" })).toContain("without a queue");
});

test("a policy file gives options and servers; a mistake, a missing or an unclear service is told", () => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-rehearse-"));
  folders.push(folder);
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const service = "{ endpoints: [http://a:1, http://b:1], hedge: 12ms, budget: { extra: 5% } }";
  const good = file("good.yaml", `services: { search: ${service} }`);
  const two = file("two.yaml", `services: { search: ${service}, ads: ${service} }`);
  const bad = file("bad.yaml", "services: { search: { endpoints: [http://a:1], hedge: 12 } }");
  const options = {};
  expect(readCandidates([good], options)).toMatchObject([
    { name: good, endpoints: [endpoint(), endpoint()], options: { hedge: { afterMs: 12 } } },
  ]);
  expect(readCandidates([two], { ...options, service: "ads", servers: 7 })[0]?.endpoints).toEqual(
    Array.from({ length: 7 }, () => endpoint()),
  );
  const weighted = file(
    "weighted.yaml",
    "services: { search: { endpoints: [http://a:1, { url: http://b:1, weight: 2.5, virtual: true }] } }",
  );
  const both = [endpoint(), endpoint(2.5, true)];
  expect(readCandidates([weighted], options)[0]?.endpoints).toEqual(both);
  expect(readCandidates([weighted], { servers: 2 })[0]?.endpoints).toEqual(both);
  expect(() => readCandidates([weighted], { servers: 3 })).toThrow(
    /--servers 3: .*weighted\.yaml lists 2 endpoints with a virtual one/,
  );
  expect(() => readCandidates([two], options)).toThrow(/2 services/);
  expect(() => readCandidates([good], { ...options, service: "ads" })).toThrow(/no service ads/);
  expect(() => readCandidates([good, bad], options)).toThrow(
    /bad\.yaml cannot be used\s+\S*bad\.yaml:1:/,
  );
});

test("slow servers and larger ones add up over repeated options, and nonsense is refused", () => {
  expect([...slowFlag("3=2", slowFlag("0=5,1=1.5"))]).toEqual([
    [0, 5],
    [1, 1.5],
    [3, 2],
  ]);
  for (const text of ["", "5", "0=", "=5", "0=0", "a=5", "0=-1"])
    expect(() => slowFlag(text)).toThrow(/0=5/);
  expect([...workersOfFlag("1=2", workersOfFlag("0=8"))]).toEqual([
    [0, 8],
    [1, 2],
  ]);
  for (const text of ["0=1.5", "0=0", "8", "0=10001"]) expect(() => workersOfFlag(text)).toThrow();
});

test("a rehearsal needs policy and trace, and takes nothing that belongs to a scenario", () => {
  const flags = { policy: ["a.yaml"], trace: "t.csv", runs: 3 };
  expect(rehearsalOf(flags, { "--set": undefined })).toEqual(flags);
  expect(rehearsalOf({ runs: 3 }, { "--set": ["a=1"] })).toBeUndefined();
  expect(() => rehearsalOf({ policy: ["a.yaml"] }, {})).toThrow("--policy needs --trace");
  expect(() => rehearsalOf({ trace: "t.csv" }, {})).toThrow("--trace needs --policy");
  expect(() => rehearsalOf({ warmUp: 0.2 }, {})).toThrow("--warm-up: this belongs to a rehearsal");
  expect(() => rehearsalOf(flags, { "--sweep": ["a=1"] })).toThrow("--sweep: a rehearsal takes");
});
