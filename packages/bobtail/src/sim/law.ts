import { checkOption } from "../core/errors.ts";
import type { Rng } from "../core/rng.ts";
import { exp } from "./exp.ts";
import { standardNormal } from "./normal.ts";

/** A distribution of durations, in ms. Means and parameters are in ms unless they are pure numbers. */
export type Law =
  | { readonly kind: "constant"; readonly valueMs: number }
  | { readonly kind: "exponential"; readonly meanMs: number }
  | { readonly kind: "uniform"; readonly fromMs: number; readonly toMs: number }
  /** `exp(N(mu, sigma))`: the median is `exp(mu)` ms. */
  | { readonly kind: "lognormal"; readonly mu: number; readonly sigma: number }
  /** Infinite variance for a shape of 2 or less; the mean needs a shape above 1. */
  | { readonly kind: "pareto"; readonly shape: number; readonly scaleMs: number }
  /** Measured values, each as likely as the others. */
  | { readonly kind: "empirical"; readonly valuesMs: readonly number[] }
  /** One of several laws by share; the shares sum to 1. */
  | {
      readonly kind: "mixture";
      readonly parts: readonly { readonly share: number; readonly law: Law }[];
    }
  /** The law, and with some probability a stall on top. */
  | { readonly kind: "stalls"; readonly law: Law; readonly share: number; readonly stall: Law };

/** Draws one duration. Compiled once, since a simulation draws millions. */
export type Draw = (rng: Rng) => number;

export function compileLaw(law: Law): Draw {
  switch (law.kind) {
    case "constant":
      return () => law.valueMs;
    case "exponential":
      return (rng) => -law.meanMs * Math.log(1 - rng.next());
    case "uniform":
      return (rng) => law.fromMs + (law.toMs - law.fromMs) * rng.next();
    case "lognormal":
      return (rng) => exp(law.mu + law.sigma * standardNormal(rng));
    case "pareto":
      return (rng) => law.scaleMs * (1 - rng.next()) ** (-1 / law.shape);
    case "empirical": {
      const { valuesMs } = law;
      checkOption({ valuesMs: valuesMs.length }, "at least one value", valuesMs.length > 0);
      return (rng) => valuesMs[rng.below(valuesMs.length)] as number;
    }
    case "mixture":
      return compileMixture(law.parts);
    case "stalls": {
      const base = compileLaw(law.law);
      const stall = compileLaw(law.stall);
      return (rng) => {
        const ms = base(rng);
        return rng.next() < law.share ? ms + stall(rng) : ms;
      };
    }
  }
}

function compileMixture(parts: readonly { readonly share: number; readonly law: Law }[]): Draw {
  const total = parts.reduce((sum, part) => sum + part.share, 0);
  checkOption({ shares: total }, "shares that sum to 1", Math.abs(total - 1) < 1e-9);
  const draws = parts.map((part) => compileLaw(part.law));
  return (rng) => {
    let u = rng.next();
    for (let i = 0; i < parts.length - 1; i++) {
      u -= (parts[i] as { share: number }).share;
      if (u < 0) return (draws[i] as Draw)(rng);
    }
    return (draws[draws.length - 1] as Draw)(rng);
  };
}

/** The mean in ms; Infinity where there is none. */
export function meanOf(law: Law): number {
  switch (law.kind) {
    case "constant":
      return law.valueMs;
    case "exponential":
      return law.meanMs;
    case "uniform":
      return (law.fromMs + law.toMs) / 2;
    case "lognormal":
      return Math.exp(law.mu + law.sigma ** 2 / 2);
    case "pareto":
      return law.shape > 1 ? (law.shape * law.scaleMs) / (law.shape - 1) : Number.POSITIVE_INFINITY;
    case "empirical":
      return law.valuesMs.reduce((sum, v) => sum + v, 0) / law.valuesMs.length;
    case "mixture":
      return law.parts.reduce((sum, part) => sum + part.share * meanOf(part.law), 0);
    case "stalls":
      return meanOf(law.law) + law.share * meanOf(law.stall);
  }
}
