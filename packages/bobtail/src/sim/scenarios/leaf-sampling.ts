import { seededRng } from "../../core/rng.ts";
import { compileLaw, type Law } from "../law.ts";
import { sampleFanOut } from "../sampled-fan-out.ts";

/** Usually 3.7 ms; 1 % of calls stall for 50 to 150 ms more. */
export const STALLING_LEAF: Law = {
  kind: "stalls",
  law: { kind: "lognormal", mu: 1.3, sigma: 0.4 },
  share: 0.01,
  stall: { kind: "uniform", fromMs: 50, toMs: 150 },
};
/** Usually 4 ms; 2 % of calls meet 20 to 80 ms of interference. */
export const INTERFERED_LEAF: Law = {
  kind: "stalls",
  law: { kind: "lognormal", mu: Math.log(4), sigma: 0.35 },
  share: 0.02,
  stall: { kind: "uniform", fromMs: 20, toMs: 80 },
};
/** 5 to 15 ms, and one call in a hundred a second longer. */
export const SECOND_LEAF: Law = {
  kind: "stalls",
  law: { kind: "uniform", fromMs: 5, toMs: 15 },
  share: 0.01,
  stall: { kind: "constant", valueMs: 1000 },
};

export interface LeafSampling {
  readonly leaf: Law;
  readonly trials: number;
  readonly leaves?: number | undefined;
  readonly delayMs?: number | undefined;
  /** Share of leaves that are slow on every replica, and by how much. */
  readonly shared?: { readonly share: number; readonly law: Law } | undefined;
  /** The second copy meets what the first met. */
  readonly sameCause?: boolean | undefined;
  readonly seed: number;
}

/** Sampled requests. First and second copies have streams of their own, so rows with the same seed meet the same first copies. */
export function sampleLeaves(options: LeafSampling): ReturnType<typeof sampleFanOut> {
  const { leaf, trials, leaves = 100, delayMs, shared, sameCause = false, seed } = options;
  const root = seededRng(seed);
  const [first, second, keys] = [root.split("first"), root.split("second"), root.split("keys")];
  const draw = compileLaw(leaf);
  const slow = shared === undefined ? undefined : compileLaw(shared.law);
  let sharedMs = 0;
  let lastMs = 0;
  return sampleFanOut({
    trials,
    leaves,
    delayMs,
    primaryMs: () => {
      if (shared !== undefined && slow !== undefined)
        sharedMs = keys.next() < shared.share ? slow(keys) : 0;
      lastMs = draw(first) + sharedMs;
      return lastMs;
    },
    backupMs: () => (sameCause ? lastMs : draw(second) + sharedMs),
  });
}
