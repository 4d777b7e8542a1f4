import { checkOption } from "../core/errors.ts";
import { type LatencyLaw, latencyQuantile } from "./latency-law.ts";
import { checkPool } from "./queueing.ts";

/** Many single-worker servers, each arrival joining the shortest of a few drawn queues. Times in mean service times. */
export interface ChoicesModel {
  /** In [0, 1). */
  readonly loadRatio: number;
  /** Queues looked at; a whole number >= 1. 1 is random. */
  readonly choices: number;
}

const NEGLIGIBLE = 1e-18;
const MAX_LENGTH = 1_000_000;

/**
 * Share of servers with at least that many requests, for endlessly many servers and fresh counts:
 * r^((d^i - 1) / (d - 1)).
 *
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.
 */
export function queueAtLeast(model: ChoicesModel, length: number): number {
  checkModel(model);
  checkOption({ length }, "a number >= 0", length >= 0);
  const { loadRatio, choices } = model;
  const exponent = choices === 1 ? length : (choices ** length - 1) / (choices - 1);
  return loadRatio ** exponent;
}

/** Mean time in the system. */
export function choicesMean(model: ChoicesModel): number {
  checkModel(model);
  if (model.choices === 1) return 1 / (1 - model.loadRatio);
  let sum = 0;
  for (let i = 1; i <= MAX_LENGTH; i++) {
    const term = joins(model, i - 1);
    sum += term;
    if (term < NEGLIGIBLE) break;
  }
  return sum;
}

/** Chance that an arrival finds at least `ahead` requests before it in the queue that it joins. */
function joins(model: ChoicesModel, ahead: number): number {
  return queueAtLeast(model, ahead) ** model.choices;
}

/** Time in the system as a law: an arrival behind i requests takes i + 1 services. */
export function choicesLaw(model: ChoicesModel): LatencyLaw {
  checkModel(model);
  const { loadRatio, choices } = model;
  if (choices === 1) return { survival: (t) => (t <= 0 ? 1 : Math.exp(-(1 - loadRatio) * t)) };
  const behind: number[] = [];
  for (let i = 0; i < MAX_LENGTH; i++) {
    const share = joins(model, i) - joins(model, i + 1);
    behind.push(share);
    if (joins(model, i + 1) < NEGLIGIBLE) break;
  }
  return {
    survival(t) {
      if (t <= 0) return 1;
      // P(a sum of i + 1 services > t): at most i services ended in a time of t.
      let term = Math.exp(-t);
      let erlang = 0;
      let survival = 0;
      behind.forEach((share, i) => {
        erlang += term;
        term *= t / (i + 1);
        survival += share * erlang;
      });
      return Math.min(1, survival);
    },
  };
}

/** A quantile of the time in the system; in [0, 1). */
export function choicesQuantile(model: ChoicesModel, quantile: number): number {
  return latencyQuantile(choicesLaw(model), quantile);
}

function checkModel({ loadRatio, choices }: ChoicesModel): void {
  checkPool({ loadRatio });
  checkOption({ choices }, "a whole number >= 1", Number.isInteger(choices) && choices >= 1);
}
