import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRng } from "bobtail/engine";
import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { type BackendOptions, capacityPerSec } from "../fleet/fleet-options.ts";
import { drawServiceMs } from "../fleet/service-law.ts";
import { startLoad } from "../load/load.ts";
import type { LoadSection } from "../load/load-report.ts";
import { loadPolicy } from "../policy-file/load-policy.ts";
import type { ServiceReport } from "../proxy/config.ts";
import { startProxy } from "../proxy/start-proxy.ts";
import { readCandidates } from "./candidates.ts";
import { readTrace } from "./read-trace.ts";
import { type RehearsedRow, rehearseAll } from "./rehearsal.ts";

const WORKERS = 4;
const SLOW_FACTOR = 5;
const MEAN_MS = 10;
const QUEUE_LIMIT_MS = 1000;
const LOAD_RATIO = 0.7;
const WARM_UP_RATIO = 0.2;

/** Bodies of a service, the worst first. */
const POLICIES: Readonly<Record<string, string>> = {
  "round-robin": `
    balance: { policy: round-robin, errorPenalty: false }
    retry: { max: 0 }
    limit: { outstanding: 16384, perEndpoint: 8192 }`,
  "two-choices": `
    balance: { load: outstanding }
    retry: { max: 0 }`,
  hedged: `
    balance: { policy: least }
    hedge: auto
    budget: { extra: 5% }`,
};

export interface Rehearsed {
  /** What the proxy's clients saw after the warm-up. */
  readonly measured: LoadSection;
  /** What the proxy counted in all. */
  readonly service: ServiceReport;
}

/**
 * What a rehearsal predicts and the proxy on real sockets is compared on: ten backends of four workers, one five
 * times slower, at 70 % load. Its files lie in a temporary folder until `close`.
 *
 * Times are longer than 10 ms by the factor, so that late timers are small beside them.
 */
export class RehearsalStage {
  readonly ratePerSec: number;
  readonly policies: readonly string[];
  private readonly folder: string;
  private readonly factor: number;
  private readonly seconds: number;
  private readonly backends: readonly BackendOptions[];

  constructor(factor: number, seconds: number) {
    this.factor = factor;
    this.seconds = seconds;
    this.policies = Object.keys(POLICIES);
    this.backends = Array.from({ length: 10 }, (_, i) => ({
      workers: WORKERS,
      law: { meanMs: MEAN_MS * factor, slowFactor: i === 0 ? SLOW_FACTOR : 1 },
    }));
    this.ratePerSec = LOAD_RATIO * capacityPerSec(this.backends);
    this.folder = mkdtempSync(join(tmpdir(), "bobtail-rehearsal-"));
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  startFleet(seed: number): Promise<Fleet> {
    return startFleet({
      backends: this.backends,
      queueLimitMs: QUEUE_LIMIT_MS * this.factor,
      seed,
    });
  }

  /** @returns the files, one a policy, the worst first. */
  writePolicies(urls: readonly string[]): string[] {
    const endpoints = urls.map((url) => `\n      - ${url}`).join("");
    return Object.entries(POLICIES).map(([name, body]) => {
      const file = join(this.folder, `${name}.yaml`);
      writeFileSync(file, `services:\n  fleet:\n    endpoints:${endpoints}${body}\n`);
      return file;
    });
  }

  /** A trace as somebody would have recorded it: when each request came, and the work that it was. */
  writeTrace(seed: number): string {
    const rng = seededRng(seed);
    const arrivals = rng.split("arrivals");
    const sizes = rng.split("sizes");
    const law = { meanMs: MEAN_MS * this.factor, slowFactor: 1 };
    let text = "at_ms,service_ms\n";
    for (let atMs = 0; atMs < this.seconds * 1000; ) {
      atMs += (-1000 / this.ratePerSec) * Math.log(1 - arrivals.next());
      text += `${atMs.toFixed(3)},${drawServiceMs(law, sizes).toFixed(3)}\n`;
    }
    const file = join(this.folder, "trace.csv");
    writeFileSync(file, text);
    return file;
  }

  /** What is predicted for each of the policy files. */
  async rehearse(
    files: readonly string[],
    trace: string,
    { runs, seed }: { readonly runs: number; readonly seed: number },
  ): Promise<RehearsedRow[]> {
    return rehearseAll(readCandidates(files, {}), await readTrace(trace), {
      workers: WORKERS,
      slow: new Map([[0, SLOW_FACTOR]]),
      queueTimeoutMs: QUEUE_LIMIT_MS * this.factor,
      copies: "independent",
      cancel: "queued",
      warmUpRatio: WARM_UP_RATIO,
      runs,
      seed,
    });
  }

  /** What the proxy does with that policy file before that fleet. */
  async measure(
    file: string,
    fleet: Fleet,
    { seed, seconds = this.seconds }: { readonly seed: number; readonly seconds?: number },
  ): Promise<Rehearsed> {
    await fleet.reset();
    const reading = loadPolicy(file);
    if (!reading.ok) throw new Error(`${file} is no policy file`);
    const proxy = await startProxy({
      listeners: [{ host: "127.0.0.1", port: 0, service: "fleet" }],
      services: reading.config.services,
    });
    try {
      const { measured } = await startLoad({
        url: `http://127.0.0.1:${proxy.addresses[0]?.port}/`,
        ratePerSec: this.ratePerSec,
        warmupMs: seconds * 1000 * WARM_UP_RATIO,
        durationMs: seconds * 1000 * (1 - WARM_UP_RATIO),
        timeoutMs: 60_000,
        seed,
      }).report;
      return { measured, service: proxy.stats().services.fleet as ServiceReport };
    } finally {
      await proxy.close();
    }
  }
}
